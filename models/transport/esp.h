/* SPDX-License-Identifier: GPL-2.0-or-later */
/* esp: sizes of ESP packets.
 *
 * Purpose:  how many bytes an IP packet becomes when ESP protects it.
 * Units:    bytes.
 * Sources:  RFC 4303 (SPI 4, sequence number 4, padding to a multiple of 4 with its length and next header, 2);
 *           RFC 4106 section 3 (AES-GCM: IV 8, ICV 16) and RFC 7634 (ChaCha20-Poly1305: the same);
 *           RFC 3948 (UDP encapsulation: 8 bytes of UDP header).
 * Left out: extended sequence numbers (not transmitted), traffic flow confidentiality padding.
 */
#ifndef PQNETSIM_ESP_H
#define PQNETSIM_ESP_H

#include <stdbool.h>
#include <stdint.h>

enum esp_mode { ESP_TUNNEL, ESP_TRANSPORT };

enum { ESP_IPV4_HEADER_BYTES = 20 };

/* What follows the outer IPv4 header (and the UDP header, if encapsulated) when a plain IPv4 packet of packet_bytes is
 * protected: the whole packet in tunnel mode, its payload in transport mode. */
int64_t esp_payload_bytes(int64_t packet_bytes, enum esp_mode mode);

/* The IPv4 packet on the wire. */
int64_t esp_packet_bytes(int64_t packet_bytes, enum esp_mode mode, bool udp_encapsulated);

#endif
