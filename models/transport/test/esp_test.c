/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: models/transport/esp.o
#include "models/transport/esp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* By hand from RFC 4303 and RFC 4106.
 * Ping of 84 bytes in tunnel mode: 84 + 2 = 86, padded to 88; 8 (SPI, sequence) + 8 (IV) + 88 + 16 (ICV) = 120; with the
 * outer header 140, in UDP 148.
 * The same in transport mode: payload 64 + 2 = 66, padded to 68; 8 + 8 + 68 + 16 = 100; 120.
 * A full 1438-byte packet in tunnel mode just fits MTU 1500: 1438 + 2 = 1440; 32 + 1440 + 20 = 1492; 1446 + 2 = 1448: 1500;
 * 1447 + 2 = 1449, padded to 1452: 1504. */
static const struct {
  int64_t plain;
  enum esp_mode mode;
  bool udp;
  int64_t expected;
} cases[] = {
    {84, ESP_TUNNEL, false, 140},
    {84, ESP_TUNNEL, true, 148},
    {84, ESP_TRANSPORT, false, 120},
    {1438, ESP_TUNNEL, false, 1492},
    {1446, ESP_TUNNEL, false, 1500},
    {1447, ESP_TUNNEL, false, 1504},
};

static void packet_sizes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_int_equal(esp_packet_bytes(cases[i].plain, cases[i].mode, cases[i].udp), cases[i].expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(packet_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
