/* SPDX-License-Identifier: GPL-2.0-or-later */
// objects: sim/net/net_path.o sim/net/net_rules.o sim/core/random.o sim/core/param.o sim/core/param_value.o sim/core/units.o sim/core/err.o
#include "sim/net/net.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static const struct net_ops able = {.name = "able", .caps = NET_CAP_JITTER | NET_CAP_GEMODEL | NET_CAP_MIDDLEBOX | NET_CAP_BYTE_QUEUE};
static const struct net_ops plain = {.name = "plain"};

/* A config with KEY, TEXT pairs set; NULL ends. */
static struct config *configured(const char *const *pairs) {
  static const struct param_table *const tables[] = {&net_path_params};
  struct config *config = config_new(tables, 1);
  for (; *pairs; pairs += 2) {
    struct err e = {0};
    if (config_set(config, pairs[0], pairs[1], &e)) fail_msg("%s: %s: %s", pairs[0], pairs[1], e.text);
    err_free(&e);
  }
  return config;
}
#define CONFIGURED(...) configured((const char *const[]){__VA_ARGS__, NULL})

static void defaults(void **state) {
  struct config *config = CONFIGURED(NULL);
  struct net_link_config link;
  struct err e = {0};
  (void)state;
  net_path_config(config, &link);
  assert_int_equal(link.mtu_bytes, 1500);
  assert_int_equal(link.l2_overhead_bytes, 0);
  for (int side = NET_A; side <= NET_B; side++) {
    const struct net_direction *d = &link.direction[side];
    assert_int_equal(d->rate_bps, INT64_C(10000000000));
    assert_int_equal(d->delay, 100000);
    assert_int_equal(d->jitter, 0);
    assert_int_equal(d->queue_unit, NET_QUEUE_PACKETS);
    assert_int_equal(d->queue_limit, 1000);
    assert_false(d->loss.gemodel);
    assert_int_equal(d->loss.loss_ppb, 0);
    assert_int_equal(d->drop_count, 0);
    assert_false(d->drop_fragments);
    assert_int_equal(d->outage_from, d->outage_until);
  }
  assert_int_equal(net_path_check(config, &plain, &e), ERR_NONE);
  config_free(config);
}

static void directions_follow_the_path_or_their_own_key(void **state) {
  struct config *config = CONFIGURED("path.rate", "10Mbit/s", "path.rtt", "10ms", "path.jitter", "1ms", "path.loss", "1%", "path.mtu", "1400B",
      "path.l2_overhead", "38B", "path.drop", "[3]", "path.down.rate", "2Mbit/s", "path.down.delay", "7ms", "path.down.jitter", "2ms", "path.down.loss",
      "{gemodel: {p: 1%, r: 20%}}", "path.down.queue", "64KiB", "path.down.drop", "[1, 2]", "path.up.middlebox", "drop_fragments");
  struct net_link_config link;
  const struct net_direction *up = &link.direction[NET_A], *down = &link.direction[NET_B];
  struct err e = {0};
  (void)state;
  net_path_config(config, &link);
  assert_int_equal(link.mtu_bytes, 1400);
  assert_int_equal(link.l2_overhead_bytes, 38);
  assert_int_equal(up->rate_bps, 10000000);
  assert_int_equal(up->delay, 5 * MS);
  assert_int_equal(up->jitter, 1 * MS);
  assert_int_equal(up->loss.loss_ppb, 10000000);
  assert_int_equal(up->drop_count, 1);
  assert_int_equal(up->drop[0], 3);
  assert_true(up->drop_fragments);
  assert_int_equal(down->rate_bps, 2000000);
  assert_int_equal(down->delay, 7 * MS);
  assert_int_equal(down->jitter, 2 * MS);
  assert_true(down->loss.gemodel);
  assert_int_equal(down->loss.p_ppb, 10000000);
  assert_int_equal(down->loss.r_ppb, 200000000);
  assert_int_equal(down->loss.bad_ppb, SHARE_ONE);
  assert_int_equal(down->loss.good_ppb, 0);
  assert_int_equal(down->queue_unit, NET_QUEUE_BYTES);
  assert_int_equal(down->queue_limit, 65536);
  assert_int_equal(down->drop_count, 2);
  assert_int_equal(down->drop[1], 2);
  assert_false(down->drop_fragments);
  assert_int_equal(net_path_check(config, &able, &e), ERR_NONE);
  config_free(config);
}

static void outages(void **state) {
  struct config *config = CONFIGURED("path.outage_start", "20s", "path.outage", "1500ms", "path.down.outage", "2s");
  struct net_link_config link;
  (void)state;
  net_path_config(config, &link);
  assert_int_equal(link.direction[NET_A].outage_from, 20000 * MS);
  assert_int_equal(link.direction[NET_A].outage_until, 21500 * MS);
  assert_int_equal(link.direction[NET_B].outage_from, 20000 * MS);
  assert_int_equal(link.direction[NET_B].outage_until, 22000 * MS);
  config_free(config);
}

/* Each is refused with a sentence that names the key and says why. */
static void contradictions_are_refused(void **state) {
  static const struct {
    const char *pairs[5];
    const struct net_ops *ops;
    const char *key, *reason;
  } rows[] = {
      {{"path.jitter", "200us"}, &able, "path.jitter: found 200us, above path.delay of 100us", "arrive before it was sent"},
      {{"path.down.delay", "1ms", "path.down.jitter", "2ms"}, &able, "path.down.jitter", "path.down.delay"},
      {{"path.jitter", "100us"}, &plain, "path.jitter: found 100us", "plain has no jitter"},
      {{"path.down.loss", "{gemodel: {p: 1%, r: 20%}}"}, &plain, "path.down.loss", "plain has no gemodel"},
      {{"path.up.middlebox", "drop_fragments"}, &plain, "path.up.middlebox", "plain has no middleboxes"},
      {{"path.down.queue", "64KiB"}, &plain, "path.down.queue", "plain has no queues limited in bytes"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct config *config = configured(rows[i].pairs);
    struct err e = {0};
    assert_int_equal(net_path_check(config, rows[i].ops, &e), ERR_INPUT);
    assert_non_null(strstr(e.text, rows[i].key));
    assert_non_null(strstr(e.text, rows[i].reason));
    err_free(&e);
    config_free(config);
  }
}

/* What both directions follow is said once, what each has of its own for each. */
static void every_key_is_named_once(void **state) {
  struct config *shared = CONFIGURED("path.jitter", "200us", "path.middlebox", "drop_fragments");
  struct config *own = CONFIGURED("path.jitter", "200us", "path.down.delay", "150us");
  struct err e = {0};
  (void)state;
  assert_int_equal(net_path_check(shared, &plain, &e), ERR_INPUT);
  assert_int_equal(e.count, 3); /* contradiction, no jitter, no middleboxes */
  err_free(&e);
  e = (struct err){0};
  assert_int_equal(net_path_check(own, &able, &e), ERR_INPUT);
  assert_int_equal(e.count, 2);
  assert_non_null(strstr(e.text, "above path.delay of 100us"));
  assert_non_null(strstr(e.text, "above path.down.delay of 150us"));
  err_free(&e);
  config_free(own);
  config_free(shared);
}

static void ranges(void **state) {
  static const char *const refused[][2] = {
      {"path.rate", "999bit/s"}, {"path.rate", "2Tbit/s"}, {"path.down.rate", "0bit/s"}, {"path.delay", "1001s"}, {"path.up.delay", "-1ms"},
      {"path.rtt", "2001s"}, {"path.mtu", "67B"}, {"path.mtu", "65536B"}, {"path.queue", "0 packets"}, {"path.l2_overhead", "1501B"}, {"path.drop", "[0]"},
      {"path.up.drop", "[-3]"}, {"path.loss", "101%"}, {"path.middlebox", "eat"}, {"path.outage", "-1s"},
      {"path.up.outage_start", "8785h"}, /* 366 days are 8784 h */
  };
  static const char *const allowed[][2] = {
      {"path.rate", "1kbit/s"},
      {"path.rate", "1Tbit/s"},
      {"path.delay", "0ms"},
      {"path.delay", "1000s"},
      {"path.rtt", "2000s"},
      {"path.mtu", "68B"},
      {"path.mtu", "65535B"},
      {"path.queue", "1 packets"},
      {"path.queue", "1B"},
      {"path.drop", "[1]"},
      {"path.loss", "100%"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct config *config = CONFIGURED(NULL);
    struct err e = {0};
    int code = config_set(config, refused[i][0], refused[i][1], &e);
    if (!code) /* what the row cannot say, the check says */
      code = net_path_check(config, &able, &e);
    if (code != ERR_INPUT) fail_msg("%s: %s was accepted", refused[i][0], refused[i][1]);
    err_free(&e);
    config_free(config);
  }
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) config_free(CONFIGURED(allowed[i][0], allowed[i][1]));
}

static void too_many_drops(void **state) {
  char list[8 * NET_DROP_MAX] = "[1";
  struct config *config = CONFIGURED(NULL);
  struct err e = {0};
  (void)state;
  for (int i = 2; i <= NET_DROP_MAX; i++) sprintf(list + strlen(list), ", %d", i);
  strcat(list, "]");
  assert_int_equal(config_set(config, "path.drop", list, &e), ERR_NONE);
  assert_int_equal(net_path_check(config, &able, &e), ERR_NONE);
  strcpy(list + strlen(list) - 1, ", 999]");
  assert_int_equal(config_set(config, "path.drop", list, &e), ERR_NONE);
  assert_int_equal(net_path_check(config, &able, &e), ERR_INPUT);
  assert_non_null(strstr(e.text, "65"));
  err_free(&e);
  config_free(config);
}

struct fragmentation {
  int64_t payload; /* behind the IP header */
  int mtu, count;
  int64_t total, last;
};

static void fragmentation_by_hand(void **state) {
  static const struct fragmentation rows[] = {
      /* UDP 1776 + 8 = 1784 = 1480 + 304: 1500 + 324 = 1824, as measured for a ML-KEM-1024 IKE_SA_INIT */
      {1784, 1500, 2, 1824, 324},
      /* UDP 4096 + 8 = 4104 = 2 * 1480 + 1144: 4104 + 60 */
      {4104, 1500, 3, 4164, 1164},
      {1480, 1500, 1, 1500, 1500},
      {1481, 1500, 2, 1521, 21},
      {1, 1500, 1, 21, 21},
      /* 1380 bytes fit, 1376 in a fragment with more behind it; the last may fill the MTU */
      {1380, 1400, 1, 1400, 1400},
      {1381, 1400, 2, 1421, 25},
      {2756, 1400, 2, 2796, 1400},
      {2757, 1400, 3, 2817, 25},
      /* 48 a fragment: 65515 = 1364 * 48 + 43 */
      {65515, 68, 1365, 65515 + 1365 * 20, 63},
      {65515, 65535, 1, 65535, 65535},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct fragmentation *row = &rows[i];
    int64_t total = 0;
    assert_int_equal(net_fragment_count(row->payload, row->mtu), row->count);
    for (int index = 0; index < row->count; index++) {
      int64_t bytes = net_fragment_bytes(row->payload, row->mtu, index);
      assert_in_range(bytes, 21, row->mtu);
      if (index < row->count - 1) assert_int_equal((bytes - 20) % 8, 0);
      total += bytes;
    }
    assert_int_equal(total, row->total);
    assert_int_equal(net_fragment_bytes(row->payload, row->mtu, row->count - 1), row->last);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults),
      cmocka_unit_test(directions_follow_the_path_or_their_own_key),
      cmocka_unit_test(outages),
      cmocka_unit_test(contradictions_are_refused),
      cmocka_unit_test(every_key_is_named_once),
      cmocka_unit_test(ranges),
      cmocka_unit_test(too_many_drops),
      cmocka_unit_test(fragmentation_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
