/* SPDX-License-Identifier: GPL-3.0-or-later */
// objects: output/plot.o output/plot_gnuplot.o output/plot_run.o output/grid.o output/table_where.o
// objects: output/store.o output/store_file.o output/store_study.o output/store_extend.o output/store_read.o output/schema.o output/stats.o sim/core/err.o sim/core/units.o sim/core/metric.o
// libs: -lsqlite3 -lgsl -lgslcblas -lm
#include "output/test/sample.h"

#include "output/plot.h"

static char folder[256];

static const char *in_folder(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static char *read_file(const char *name) {
  FILE *from = fopen(in_folder(name), "r");
  assert_non_null(from);
  char *bytes = calloc(1, 1 << 18);
  assert_true(fread(bytes, 1, (1 << 18) - 1, from) > 0);
  fclose(from);
  return bytes;
}

static void contains(const char *file, const char *words) {
  char *text = read_file(file);
  if (!strstr(text, words)) fail_msg("expected '%s' in %s:\n%s", words, file, text);
  free(text);
}

/* kex x delay with 8 replications (enough for an interval of the median), point 1 not run. */
static int make(void **state) {
  (void)state;
  struct sample sample = sample_new();
  const char *path = sample_path("study.db");
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  sample.study.replications = 8;
  sample.study.title = "it's a \"title\" with `backquotes` and 100 %";
  sample.delay_count = 3;
  struct store *store = sample_open(&sample, path);
  for (int64_t id = 0; id < 6; id++)
    if (id != 1) sample_run(&sample, store, id);
  store_close(store);
  return 0;
}

static int clean(void **state) {
  (void)state;
  sample_remove(in_folder("x"));
  return 0;
}

static int draw(struct plot_request request, struct err *e) {
  char out[512];
  snprintf(out, sizeof out, "%s", in_folder(request.out));
  request.out = out;
  struct store *store = sample_read(in_folder("study.db"));
  int code = plot_draw(store, &request, e);
  store_close(store);
  return code;
}

static void line(void **state) {
  (void)state;
  struct err e = {0};
  sample_good(draw((struct plot_request){.out = "line.svg", .y = "tunnel_setup"}, &e), &e);
  contains("line.svg", "<svg");
  contains("line.gp", "set xlabel 'path.delay [ms]'");
  contains("line.gp", "set ylabel 'tunnel_setup p50 [ms]'");
  contains("line.gp", "set logscale x");
  contains("line.gp", "title 'mlkem768'");
  contains("line.gp", "n = 8, 95% intervals");
  contains("line.gp", "'it''s a \"title\" with `backquotes` and 100 %'");
  /* crypto 0.1 ms + r us, propagation 2, 20, 200 ms; of 8 values the median is the 4th, and its interval goes from the 1st to the 8th:
   * P(B <= 0) = 0.0039 <= 0.025 < P(B <= 1) = 0.0352, P(B <= 6) = 0.9648 < 0.975; the point not run is a gap, not a zero */
  contains("line.dat",
      "# series: x25519\n# x\tvalue\tlow\thigh\tn\tfailed\n1\t2.103\t2.1\t2.107\t8\t0\n10\tNaN\tNaN\tNaN\t0\t0\n100\t200.103\t200.1\t200.107\t8\t0\n");
}

static void mean_interval(void **state) {
  (void)state;
  struct err e = {0};
  const struct table_where where = {"path.delay", "1ms"};
  sample_good(draw((struct plot_request){.out = "bar.png", .y = "tunnel_setup.mean", .x = "ipsec.kex", .wheres = &where, .where_count = 1}, &e), &e);
  /* 0 to 7 us: mean 3.5, sd sqrt(6) us; t(0.975, 7) = 2.364624; half width 2.364624 * 2.449490 / sqrt(8) = 2.047824 us */
  contains("bar.dat", "0\t2.1035\t2.10145218\t2.10554782\t8\t0\tx25519\n1\t2.2035\t2.20145218\t2.20554782\t8\t0\tmlkem768\n");
  contains("bar.gp", "set xtics ('x25519' 0, 'mlkem768' 1)");
  contains("bar.gp", "path.delay = 1ms");
  contains("bar.gp", "unset key");
  contains("bar.gp", "set yrange [0:"); /* a bar's length is its value */
  contains("bar.png", "PNG");
}

static void cdf(void **state) {
  (void)state;
  struct err e = {0};
  const struct table_where where = {"path.delay", "1ms"};
  sample_good(draw((struct plot_request){.out = "cdf.pdf", .y = "tunnel_setup", .kind = "cdf", .wheres = &where, .where_count = 1}, &e), &e);
  contains("cdf.dat", "# series: x25519\n# value\tshare\tn\tfailed\n2.1\t0\t8\t0\n2.1\t0.125\t8\t0\n2.101\t0.25\t8\t0\n");
  contains("cdf.gp", "set ylabel 'share of samples'");
  contains("cdf.pdf", "%PDF");
}

static void heatmap(void **state) {
  (void)state;
  struct err e = {0};
  sample_good(draw((struct plot_request){.out = "heat.svg", .y = "tunnel_setup.p95", .x = "path.delay", .by = "ipsec.kex", .kind = "heatmap"}, &e), &e);
  /* 2.107 to 200.207 ms span 95: linear; five cells, the sixth is empty */
  contains("heat.dat", "0\t0\t2.107\t2.11\t0\t1ms\tx25519\n2\t0\t200.107\t200\t1\t100ms\tx25519\n0\t1\t2.207\t2.21\t0\t1ms\tmlkem768\n1\t1\t20.207\t20."
                       "2\t0\t10ms\tmlkem768\n2\t1\t200.207\t200\t1\t100ms\tmlkem768\n");
  contains("heat.gp", "set cblabel 'tunnel_setup p95 [ms]'");
}

static void breakdown(void **state) {
  (void)state;
  struct err e = {0};
  const struct table_where where = {"path.delay", "10ms"};
  sample_good(draw((struct plot_request){.out = "parts.svg", .y = "tunnel_setup", .kind = "breakdown"}, &e), &e);
  contains("parts.dat", "# position\ttotal\tshown\tkex\tpropagation\tname\n0\t2.1035\t2.103\t0.1035\t2\tx25519, 1ms\n1\tNaN\t\tNaN\tNaN\tx25519, 10ms\n");
  contains("parts.gp", "set ylabel 'tunnel_setup mean [ms]'");
  sample_good(
      draw((struct plot_request){.out = "parts.svg", .y = "tunnel_setup.mean", .x = "ipsec.kex", .kind = "breakdown", .wheres = &where, .where_count = 1}, &e),
      &e);
  sample_bad(draw((struct plot_request){.out = "parts.svg", .y = "bytes_total", .kind = "breakdown"}, &e), ERR_INPUT, &e, "bytes_total has no breakdown");
  sample_bad(draw((struct plot_request){.out = "parts.svg", .y = "tunnel_setup.p50", .kind = "breakdown"}, &e), ERR_INPUT, &e, "a breakdown is of means");
}

static void refused(void **state) {
  (void)state;
  const struct table_where not_run[] = {{"path.delay", "10ms"}, {"ipsec.kex", "x25519"}}, nothing = {"path.delay", "11ms"};
  const struct {
    struct plot_request request;
    const char *words;
  } cases[] = {
      {{.out = "a.gif", .y = "tunnel_setup"}, "ends in .svg, .png or .pdf"},
      {{.out = "a", .y = "tunnel_setup"}, "ends in .svg, .png or .pdf"},
      {{.out = ".svg", .y = "tunnel_setup"}, "ends in .svg, .png or .pdf"},
      {{.out = "a.svg", .y = "latency"}, "no metric latency; it has: tunnel_setup bytes_total"},
      {{.out = "a.svg", .y = "tunnel_setup.p98"}, "no statistic p98"},
      {{.out = "a.svg", .y = "tunnel_setup", .kind = "pie"}, "no kind of plot pie; there are: line cdf bar heatmap breakdown"},
      {{.out = "a.svg", .y = "tunnel_setup", .x = "path.loss"}, "no axis path.loss; its axes are: ipsec.kex path.delay"},
      {{.out = "a.svg", .y = "tunnel_setup", .by = "path.loss"}, "no axis path.loss"},
      {{.out = "a.svg", .y = "tunnel_setup", .x = "path.delay", .by = "path.delay"}, "is x already"},
      {{.out = "a.svg", .y = "tunnel_setup", .x = "ipsec.kex", .kind = "line"}, "a line needs a numeric axis"},
      {{.out = "a.svg", .y = "tunnel_setup.p50", .kind = "cdf"}, "a cdf shows the whole distribution"},
      {{.out = "a.svg", .y = "tunnel_setup", .by = "ipsec.kex", .kind = "cdf"}, "axis path.delay has several values, too: fix it (--where path.delay=1ms)"},
      {{.out = "a.svg", .y = "tunnel_setup", .wheres = not_run, .where_count = 2}, "no results of metric tunnel_setup yet"},
      {{.out = "a.svg", .y = "tunnel_setup", .wheres = &nothing, .where_count = 1}, "no point of the study has these values"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct err e = {0};
    sample_bad(draw(cases[i].request, &e), ERR_INPUT, &e, cases[i].words);
    assert_false(sample_exists(in_folder(cases[i].request.out), ""));
  }
}

/* The same study gives the same files, and the script draws the same figure again from its folder. */
static void redrawn(void **state) {
  (void)state;
  struct err e = {0};
  char *script[2], *data[2], *figure[2];
  for (int i = 0; i < 2; i++) {
    sample_good(draw((struct plot_request){.out = "again.svg", .y = "tunnel_setup"}, &e), &e);
    script[i] = read_file("again.gp");
    data[i] = read_file("again.dat");
    figure[i] = read_file("again.svg");
  }
  assert_string_equal(script[0], script[1]);
  assert_string_equal(data[0], data[1]);
  assert_string_equal(figure[0], figure[1]);
  char command[600];
  snprintf(command, sizeof command, "cd '%s' && rm again.svg && gnuplot again.gp", folder);
  assert_int_equal(system(command), 0);
  char *again = read_file("again.svg");
  assert_string_equal(figure[0], again);
  free(again);
  for (int i = 0; i < 2; i++) {
    free(script[i]);
    free(data[i]);
    free(figure[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(line),
      cmocka_unit_test(mean_interval),
      cmocka_unit_test(cdf),
      cmocka_unit_test(heatmap),
      cmocka_unit_test(breakdown),
      cmocka_unit_test(refused),
      cmocka_unit_test(redrawn),
  };
  return cmocka_run_group_tests(tests, make, clean);
}
