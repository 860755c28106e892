/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls13: the messages of TLS 1.3, their sizes, and what both sides do in which order, as scripts for a dialogue.
 *
 * Purpose:   from a configuration to two scripts that dialogue.c walks over a stream: the handshake (full with server or mutual
 *            authentication, with HelloRetryRequest, resumed with and without a key exchange), session tickets, and requests
 *            with their responses on the connection.
 * Writes:    how an implementation cuts its records into write() calls decides the segments. OpenSSL gathers records in a buffer
 *            of 4096 bytes: a record that overflows it fills it, what is written is exactly 4096 bytes, and of the rest what
 *            is still as long as the buffer goes out by itself. A flight that overflows it before CertificateVerify has
 *            left in part before the server signs, so its client verifies the chain meanwhile.
 * Units:     bytes; of a message with its 4-byte header, of a record with header, content type and tag.
 * Invariant: every message, payload total and segment of tls_truth.csv (source pqnetsim-tls-2026, OpenSSL 3.5.9) comes out to
 *            the byte, ECDSA's DER apart. Sums of flights of stack oqs equal those of source tum-pqs-tls-2023.
 * Records:   a response goes out as SSL_write cuts it, a record of 16 KiB each; a very long one in TLS13_PIECES_MOST writes of several.
 * Errors:    tls13_configure: ERR_INPUT sentences that begin with the key.
 * Sources:   RFC 8446 (TLS 1.3), RFC 8879 (certificate compression), RFC 6066 (server_name), RFC 7301 (ALPN), RFC 8422 (point
 *            formats), RFC 5077 (shape of a ticket), draft-ietf-tls-ecdhe-mlkem, draft-ietf-tls-mldsa.
 * Left out:  0-RTT, KeyUpdate, post-handshake authentication, OCSP, cookies in HelloRetryRequest, time to compress.
 */
#ifndef PQNETSIM_TLS13_H
#define PQNETSIM_TLS13_H

#include "models/crypto/alg.h"
#include "models/security/dialogue.h"
#include "models/security/x509.h"
#include "sim/core/param.h"

enum { TLS13_PIECES_MOST = 40, TLS13_GROUPS_MAX = 16, TLS13_SHARES_MAX = 4, TLS13_CHAIN_MAX = 4 };

enum tls13_resume { TLS13_FULL, TLS13_PSK_DHE, TLS13_PSK_KE };
enum tls13_compression { TLS13_COMPRESS_NOTHING, TLS13_COMPRESS_CLIENT, TLS13_COMPRESS_BOTH };

/* What an implementation does in its own way; the choices of tls.stack. */
struct tls13_stack {
  int schemes;               /* signature schemes it offers for TLS 1.3, */
  int schemes_with_tls12;    /* and when it would also take TLS 1.2 */
  int tls12_suites;          /* cipher suites it then adds, signalling value counted */
  bool only_with_tls12;      /* it always offers TLS 1.2, with all its suites */
  bool always_point_formats; /* else only when a curve of TLS 1.2 is offered */
  bool bare_certificates;
  int buffer_bytes; /* 0: one write per flight */
  bool flushes;     /* behind ServerHello and Certificate, whatever the buffer holds */
};

struct tls13_cipher {
  const char *aead, *hash, *hkdf; /* of the cost file */
  int hash_bytes;
};

struct tls13_config {
  const struct alg *kex; /* what the server takes */
  const struct alg *shares[TLS13_SHARES_MAX];
  int share_count;
  const struct alg *groups[TLS13_GROUPS_MAX]; /* supported_groups of the client */
  int group_count;
  const struct alg *chain[TLS13_CHAIN_MAX]; /* certificates sent, leaf first; the root has the algorithm of the last */
  int chain_count;
  struct x509_content content;
  const struct tls13_cipher *cipher;
  const struct tls13_stack *stack;
  enum tls13_resume resume;
  enum tls13_compression compression;
  bool mutual, with_tls12, status_request;
  bool padding;           /* of the ClientHello, RFC 7685 */
  bool names_authorities; /* in the CertificateRequest */
  bool stateful;          /* the server keeps sessions: a ticket is a name of one */
  int suites;             /* cipher suites of TLS 1.3 that the client offers */
  int tickets;
  simtime start;             /* of the client's program, before its ClientHello */
  int sni_bytes, alpn_bytes; /* lengths of the names; 0: without the extension */
  int hello_record_bytes;    /* the ClientHello is cut into records of so many bytes; 0: it is one record */
};

extern const struct param_table tls13_params; /* tls.* */

/* server: its platform may say whose TLS it is, NULL: it does not. */
int tls13_configure(const struct config *config, const struct cost_platform *server, struct tls13_config *out, struct err *e) MUST_CHECK;

/* The server answers the first ClientHello with HelloRetryRequest. */
bool tls13_has_retry(const struct tls13_config *config);

/* Lengths of the handshake messages; 0: not sent. */
struct tls13_messages {
  int client_hello, retry, second_hello;
  int server_hello, encrypted_extensions, certificate_request, certificate, certificate_verify, finished;
  int client_certificate, client_certificate_verify; /* finished is as long at both sides */
  int ticket;                                        /* each */
};
void tls13_messages(const struct tls13_config *config, struct tls13_messages *out);

/* Bytes of a message on the wire, as one encrypted record or as many as it needs. */
int64_t tls13_records_bytes(int64_t message);
/* The first record of the first flight, which a middlebox may want to see whole in the first segment. */
int tls13_first_record_bytes(const struct tls13_config *config);
/* All its records. */
int64_t tls13_hello_bytes(const struct tls13_config *config);
/* The client's last flight. */
int64_t tls13_client_flight_bytes(const struct tls13_config *config);

/* What an operation is for (dialogue_op.use). */
enum tls13_use { TLS13_SOFTWARE, TLS13_KEX, TLS13_SIGN, TLS13_CERT_VERIFY, TLS13_SYMMETRIC, TLS13_USES };

enum tls13_mark {
  TLS13_OPEN,             /* connect() has returned, accept() has */
  TLS13_HELLO_SENT,       /* client: its first flight is written */
  TLS13_HELLO_IN,         /* server: it has the ClientHello that it can answer */
  TLS13_SERVER_HELLO_OUT, /* server: ServerHello is in the buffer; it may not be written yet */
  TLS13_SERVER_HELLO_IN,  /* client */
  TLS13_SERVER_FLIGHT_IN, /* client: it has checked the server's Finished */
  TLS13_CLIENT_DONE,      /* its Finished is written: SSL_connect returns */
  TLS13_FLIGHT_ACKED,     /* its flight is acknowledged; only where the first request waits for that */
  TLS13_SERVER_DONE,      /* it has checked the client's Finished */
  TLS13_READY,            /* either: the handshake is behind it, the server's tickets are written */
  TLS13_REQUEST_BEGUN,    /* client */
  TLS13_FIRST_BYTE,       /* client: first record of the response is opened */
  TLS13_LAST_BYTE,        /* client: the last is */
  TLS13_MARKS
};

/* Scripts of client (NET_A) and server (NET_B) from the open connection to both sides done, tickets sent. platforms: of the two; one that
 * does not know a hybrid key exchange as a whole is charged for its parts. */
void tls13_handshake(const struct tls13_config *config, const struct cost_platform *const platforms[2], struct dialogue_script scripts[2]);

/* A request and its response. */
struct tls13_exchange {
  int64_t request_bytes, response_bytes; /* request 0: the server sends its response unasked */
  simtime service;                       /* of the server, before it answers */
  bool waits;                            /* the first request waits until the client's last flight is acknowledged */
};

/* Appends it to both scripts. first: of the connection, so that the session tickets arrive before the response. */
void tls13_exchange(const struct tls13_config *config, const struct tls13_exchange *exchange, bool first, struct dialogue_script scripts[2]);

bool tls13_kex_is_quantum_safe(const struct tls13_config *config);
/* Every certificate that the server's authentication rests on; of a resumed session, its pre-shared key. */
bool tls13_auth_is_quantum_safe(const struct tls13_config *config);

#endif
