/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/domain/tls_metrics.h"

#define CALLED "connect() called"
#define OF_HANDSHAKE "of the handshake, session tickets that follow it included; of handshakes that completed"

const struct metric_def tls_metric_defs[TLS_METRICS] = {
    [TLS_CONNECT] = {"tcp_connect", METRIC_TIME, CALLED, "connect() returns", "TCP's three-way handshake as the client sees it"},
    [TLS_HANDSHAKE_TCP] = {"handshake", METRIC_TIME, CALLED, "handshake done at the client",
        "TCP and TLS: the client has verified the server and has sent its Finished"},
    [TLS_HANDSHAKE] = {"tls_handshake", METRIC_TIME, "ClientHello has left", "first packet of the client's last flight has left",
        "TLS alone, as a capture at the client sees it: its key generation is not in it"},
    [TLS_SERVER_HANDSHAKE] = {"server_handshake", METRIC_TIME, CALLED, "handshake done at the server", "the server has the client's Finished"},
    [TLS_FLIGHT_ACKED] = {"handshake_acked", METRIC_TIME, CALLED, "the client's last flight is acknowledged", "with app.waits: before the first request"},
    [TLS_REQUEST] = {"request", METRIC_TIME, "first byte of a request written", "last byte of its response read", "of all requests"},
    [TLS_FIRST_BYTE] = {"time_to_first_byte", METRIC_TIME, CALLED, "first record of the first response read", "of each connection"},
    [TLS_LAST_BYTE] = {"time_to_last_byte", METRIC_TIME, CALLED, "last byte of the first response read", "of each connection"},
    [TLS_HIDDEN_CRYPTO] = {"hidden_crypto", METRIC_TIME, "cryptography of both sides until the handshake is done at the client",
        "that which the handshake had to wait for", "work that something longer went on beside: it is in no breakdown"},
    [TLS_CLIENT_CPU] = {"client_cpu", METRIC_TIME, "the client's processor, busy", "handshake done at the client",
        "cryptography and software of the handshake"},
    [TLS_SERVER_CPU] = {"server_cpu", METRIC_TIME, "the server's processor, busy", "handshake done at the server",
        "cryptography and software of the handshake"},
    [TLS_BYTES_C2S] = {"bytes_c2s", METRIC_BYTES, "TCP payload, client to server", NULL, OF_HANDSHAKE},
    [TLS_BYTES_S2C] = {"bytes_s2c", METRIC_BYTES, "TCP payload, server to client", NULL, OF_HANDSHAKE},
    [TLS_SEGMENTS_C2S] = {"segments_c2s", METRIC_COUNT, "TCP segments with payload, client to server, those sent again counted", NULL, OF_HANDSHAKE},
    [TLS_SEGMENTS_S2C] = {"segments_s2c", METRIC_COUNT, "TCP segments with payload, server to client, those sent again counted", NULL, OF_HANDSHAKE},
    [TLS_BYTES_TOTAL] = {"bytes_total", METRIC_BYTES, "IP bytes, both directions", NULL,
        "of the whole run, SYN, acknowledgements and failed connections included"},
    [TLS_PACKETS_TOTAL] = {"packets_total", METRIC_COUNT, "IP packets, both directions", NULL,
        "of the whole run, SYN, acknowledgements and failed connections included"},
    [TLS_RETRANSMISSIONS] = {"retransmissions", METRIC_COUNT, "segments sent again, both directions, SYN included", NULL, "of one connection"},
    [TLS_TIMEOUTS] = {"timeouts", METRIC_COUNT, "retransmission timer expiries, both sides", NULL, "of one connection; ns3 does not tell"},
    [TLS_SUCCESS] = {"success", METRIC_SHARE, "connections begun", "connections that did all they were to do",
        "share of connections whose handshake and requests completed"},
    [TLS_HNDL_EXPOSED] = {"hndl_exposed", METRIC_SHARE, "handshakes completed", "those whose key exchange a quantum computer breaks",
        "share of connections that can be harvested now and decrypted later"},
    [TLS_AUTH_EXPOSED] = {"auth_exposed", METRIC_SHARE, "handshakes completed", "those whose authentication a quantum computer breaks",
        "share of connections that an attacker with a quantum computer can impersonate"},
};
