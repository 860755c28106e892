/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/transport/esp.h"

enum {
  SPI_AND_SEQUENCE = 8,
  IV = 8,
  ICV = 16,
  TRAILER = 2, /* pad length and next header */
  ALIGNMENT = 4,
  UDP_HEADER = 8,
};

int64_t esp_payload_bytes(int64_t packet_bytes, enum esp_mode mode) {
  int64_t clear = packet_bytes - (mode == ESP_TRANSPORT ? ESP_IPV4_HEADER_BYTES : 0);
  int64_t padded = (clear + TRAILER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return SPI_AND_SEQUENCE + IV + padded + ICV;
}

int64_t esp_packet_bytes(int64_t packet_bytes, enum esp_mode mode, bool udp_encapsulated) {
  return ESP_IPV4_HEADER_BYTES + (udp_encapsulated ? UDP_HEADER : 0) + esp_payload_bytes(packet_bytes, mode);
}
