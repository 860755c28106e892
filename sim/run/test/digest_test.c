/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FIPS 180-2 appendix B.1 and B.2, and the digest of nothing (NIST CAVP, SHA256ShortMsg Len = 0). */
// objects: sim/run/digest.o
// libs: -lcrypto
#include "sim/run/digest.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void known_answers(void **state) {
  (void)state;
  static const struct {
    const char *first, *second, *hex;
  } rows[] = {
      {"", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"a", "bc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijk", "ijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char hex[DIGEST_HEX];
    struct digest *digest = digest_begin();
    digest_add(digest, rows[i].first, strlen(rows[i].first));
    digest_add(digest, rows[i].second, strlen(rows[i].second));
    digest_end(digest, hex);
    assert_string_equal(hex, rows[i].hex);
  }
}

static void texts_keep_their_borders(void **state) {
  (void)state;
  char left[DIGEST_HEX], right[DIGEST_HEX];
  struct digest *digest = digest_begin();
  digest_add_text(digest, "ab");
  digest_add_text(digest, "c");
  digest_end(digest, left);
  digest = digest_begin();
  digest_add_text(digest, "a");
  digest_add_text(digest, "bc");
  digest_end(digest, right);
  assert_string_not_equal(left, right);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(texts_keep_their_borders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
