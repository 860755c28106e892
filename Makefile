# SPDX-License-Identifier: GPL-3.0-or-later
# Builds ./pqnetsim and ./pqnetsim-ns3; everything else goes to build/. Targets: all demo check bench lint install
# uninstall clean distclean. `make V=1` shows the commands.

-include config.mk
ifneq ($(filter-out clean distclean lint,$(or $(MAKECMDGOALS),all)),)
ifneq ($(strip $(CONFIGURED_BY)),$(strip $(shell cksum <configure)))
$(error config.mk is missing or older than configure: run ./configure first)
endif
endif

WARNINGS = -Wall -Wextra -Wshadow -Wpointer-arith
C_FLAGS = -O3 -g $(CFLAGS) -std=c11 -D_GNU_SOURCE -ffp-contract=off $(WARNINGS) -Wmissing-prototypes -Wstrict-prototypes $(SANITIZE)
CXX_FLAGS = -O3 -g $(CXXFLAGS) -std=$(NS3_STD) -ffp-contract=off $(WARNINGS) $(SANITIZE)
DATADIR = $(PREFIX)/share/pqnetsim
CPP_FLAGS = -I. -MMD -MP -DPQNETSIM_VERSION='"$(VERSION)"' -DPQNETSIM_DATADIR='"$(DATADIR)"'
LINK_FLAGS = $(LDFLAGS) $(SANITIZE)

# The layers, lowest first; the include rules between them are in sim/test/lint.sh.
CORE = $(addprefix sim/core/,cpu.o err.o event.o metric.o param.o param_value.o random.o units.o)
NET = $(addprefix sim/net/,net_path.o net_rules.o)
MODELS = \
  $(addprefix models/crypto/,alg.o alg_own.o cost.o cost_data.o cost_line.o cost_name.o cost_share.o csv.o device.o) \
  $(addprefix models/transport/,esp.o port.o sctp.o sctp_ack.o sctp_path.o sctp_profile.o sctp_receive.o sctp_send.o sctp_setup.o stream.o \
    stream_net.o stream_writes.o tcp.o tcp_ack.o tcp_profile.o tcp_receive.o tcp_recover.o tcp_send.o tcp_timer.o tcp_window.o) \
  $(addprefix models/application/,hpack.o http2.o http2_config.o) \
  $(addprefix models/security/,channel.o dialogue.o handshake.o ikev2.o ikev2_config.o tls13_config.o tls13_script.o tls13_size.o x509.o) \
  $(addprefix models/domain/,app.o catalog.o e2.o e2_metrics.o e2ap.o e2ap_config.o fleet.o gateway.o kpm.o node.o platforms.o population.o probe.o secure_path.o tls.o \
    tls_metrics.o tunnel.o)
WORKER = $(addprefix sim/run/,roster.o run.o worker.o)
RUN = $(addprefix sim/run/,algorithms.o arena.o axes.o digest.o load.o names.o pool.o problem.o range.o require.o scenario.o skip.o \
  sweep.o utf8.o value.o yaml.o)
OUTPUT = $(addprefix output/,grid.o json.o metric_json.o plot.o plot_dots.o plot_gnuplot.o plot_run.o plot_scatter.o schema.o stats.o store.o \
  store_extend.o store_file.o store_read.o store_study.o table_export.o table_run.o table_show.o table_where.o)
CALIB = $(addprefix calib/,clock.o fit.o host.o import.o measure.o operations.o operations_data.o operations_keys.o samples.o scale.o scale_rows.o \
  score.o validate.o)
CMD = $(addprefix sim/,main.o cmd_calibrate_fit.o cmd_calibrate_import.o cmd_calibrate_measure.o cmd_calibrate_scale.o cmd_calibrate_show.o \
  cmd_calibrate_student.o cmd_columns.o cmd_estimate.o cmd_execute.o cmd_folders.o cmd_init.o cmd_list.o cmd_listing.o cmd_measure.o cmd_options.o \
  cmd_params.o cmd_platform_file.o cmd_plot.o cmd_progress.o cmd_require.o cmd_run.o cmd_sensitivity.o cmd_sources.o cmd_study.o cmd_sweep.o \
  cmd_validate.o cmd_validate_answers.o cmd_validate_page.o cmd_validate_run.o)

PQNETSIM = $(addprefix build/,$(CORE) $(NET) sim/net/net_native.o $(MODELS) $(WORKER) $(RUN) $(OUTPUT) $(CALIB) $(CMD))
PQNETSIM_NS3 = $(addprefix build/,$(CORE) $(NET) sim/net/net_ns3.o sim/net/ns3_stream.o sim/net/ns3_main.o $(MODELS) $(WORKER))

PROGRAMS = pqnetsim $(if $(filter 1,$(HAVE_NS3)),pqnetsim-ns3)

# A test says what it links: lines `// objects: a.o b.o` and `// libs: -lx`. Names with ns3 in them need ns-3.
TESTS = $(patsubst %.c,build/%,$(wildcard $(foreach d,calib output models/* sim sim/*,$(d)/test/*_test.c)))
NS3_TESTS = $(foreach t,$(TESTS),$(if $(findstring ns3,$(notdir $(t))),$(t)))
C_TESTS = $(filter-out $(NS3_TESTS),$(TESTS))
RUN_TESTS = $(C_TESTS) $(if $(filter 1,$(HAVE_NS3)),$(NS3_TESTS))
TEST_SCRIPTS = $(wildcard $(foreach d,calib output models/* sim sim/*,$(d)/test/*_test.sh))

BENCHES = build/calib/test/speed_bench build/sim/core/test/event_bench build/output/test/store_bench $(if $(filter 1,$(HAVE_NS3)),build/sim/net/test/ns3_hold_bench)

Q = $(if $(V),,@)

all: $(PROGRAMS)

pqnetsim: $(PQNETSIM)
	@echo "  LINK   $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $^ $(YAML_LIBS) $(SQLITE_LIBS) $(CRYPTO_LIBS) $(GSL_LIBS)

# Without GSL, OpenSSL, SQLite and libyaml: LICENSE says why.
pqnetsim-ns3: $(PQNETSIM_NS3)
	@echo "  LINK   $@"
	$(Q)$(CXX) $(LINK_FLAGS) -Wl,--as-needed -o $@ $^ $(NS3_LIBS) -lm

build/%.o: %.c config.mk Makefile
	@mkdir -p $(@D)
	@echo "  CC     $<"
	$(Q)$(CC) $(C_FLAGS) $(CPP_FLAGS) $(LIB_CFLAGS) -c -o $@ $<

build/%.o: %.cc config.mk Makefile
	@mkdir -p $(@D)
	@echo "  CXX    $<"
	$(Q)$(CXX) $(CXX_FLAGS) $(CPP_FLAGS) $(NS3_CFLAGS) -c -o $@ $<

build/models/domain/test/tls_ns3_test.o: CPP_FLAGS += -DNS3_VERSION='"$(NS3_VERSION)"'
build/sim/run/%.o: LIB_CFLAGS = $(YAML_CFLAGS) $(CRYPTO_CFLAGS)
build/calib/fit.o: LIB_CFLAGS = $(GSL_CFLAGS)
build/calib/operations%.o build/calib/test/speed_bench.o: LIB_CFLAGS = $(CRYPTO_CFLAGS)
build/output/%.o: LIB_CFLAGS = $(SQLITE_CFLAGS) $(GSL_CFLAGS)
build/%_test.o: LIB_CFLAGS = $(CMOCKA_CFLAGS) $(SQLITE_CFLAGS)

.SECONDEXPANSION:
named_objects = $(addprefix build/,$(shell sed -n 's|^// objects:||p' $(1)))
# `// libs:` may name variables of config.mk.
named_libs = $(eval libs_of_test := $(shell sed -n 's|^// libs:||p' $(1)))$(libs_of_test)

$(C_TESTS): build/%: build/%.o $$(call named_objects,$$*.c)
	@echo "  LINK   $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $^ $(call named_libs,$*.c) $(CMOCKA_LIBS) -lm

$(NS3_TESTS): build/%: build/%.o $$(call named_objects,$$*.c)
	@echo "  LINK   $@"
	$(Q)$(CXX) $(LINK_FLAGS) -Wl,--as-needed -o $@ $^ $(call named_libs,$*.c) $(CMOCKA_LIBS) $(NS3_LIBS) -lm

build/sim/core/test/event_bench: build/sim/core/test/event_bench.o build/sim/core/event.o
	@echo "  LINK   $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $^

build/output/test/store_bench: build/output/test/store_bench.o $(addprefix build/,$(OUTPUT) $(CORE))
	@echo "  LINK   $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $^ $(SQLITE_LIBS) $(GSL_LIBS)

build/calib/test/speed_bench: $(addprefix build/calib/,test/speed_bench.o clock.o fit.o measure.o operations.o operations_data.o operations_keys.o)
	@echo "  LINK   $@"
	$(Q)$(CC) $(LINK_FLAGS) -o $@ $^ $(CRYPTO_LIBS) $(GSL_LIBS)

build/sim/net/test/ns3_hold_bench: build/sim/net/test/ns3_hold_bench.o
	@echo "  LINK   $@"
	$(Q)$(CXX) $(LINK_FLAGS) -Wl,--as-needed -o $@ $^ $(NS3_LIBS)

demo: all
	scenarios/demo.sh

check: all $(RUN_TESTS) $(BENCHES)
	sim/test/run_tests.sh $(RUN_TESTS) $(TEST_SCRIPTS) sim/test/lint.sh

bench: all $(BENCHES)
	sim/test/bench.sh

lint:
	sim/test/lint.sh

BINDIR = $(DESTDIR)$(PREFIX)/bin

install: all
	install -d $(BINDIR) $(DESTDIR)$(DATADIR)
	install $(PROGRAMS) $(BINDIR)
	cp -R calib/data/. $(DESTDIR)$(DATADIR)
	cp -R scenarios $(DESTDIR)$(DATADIR)

uninstall:
	rm -f $(BINDIR)/pqnetsim $(BINDIR)/pqnetsim-ns3
	rm -rf $(DESTDIR)$(DATADIR)

clean:
	rm -rf build pqnetsim pqnetsim-ns3

distclean: clean
	rm -f config.mk config.log

.PHONY: all demo check bench lint install uninstall clean distclean
.DELETE_ON_ERROR:

-include $(patsubst %.o,%.d,$(PQNETSIM) $(PQNETSIM_NS3)) $(addsuffix .d,$(TESTS) $(BENCHES))
