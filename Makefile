# Makefile - builds, tests, installs backstitch. Plain make; see README.md.
#   V=1         show the commands
#   O=DIR       where objects go (build, or build-san with SAN)
#   SAN=LIST    build with -fsanitize=LIST
#   CC=clang    another compiler (with its own O=)
#   CSTD=c11    another standard of C (gnu11)
#   RUN=qemu-...  what runs programs of that compiler's machine: one makes a file
#   BABELTRACE=  without libbabeltrace2: then there is no export to CTF and no
#               plugin of babeltrace2
#   BABELTRACE_PLUGINS  where install puts it (LIBDIR/babeltrace2/plugins)
#   DEBUGINFOD=  without libdebuginfod: then --debuginfod is refused
#   CAPSTONE=    without libcapstone: then annotate shows no instructions
#   CURL=        without libcurl: then servers (clickhouse://) are refused
#   NCURSES=     without libncursesw: then view is refused
#   LTO=         without link-time optimization: quicker after each change
#   WERROR=-Werror  stop at warnings, as .ci/run does
#   CCACHE=     without ccache, which is used where it is installed
#   PREFIX, LIBDIR, DESTDIR  where install puts things
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
SAN ?=
O ?= $(if $(SAN),build-san,build)
ifeq ($(origin CC),default)
CC = gcc
endif
CSTD ?= gnu11
PKG_CONFIG ?= pkg-config
CCACHE ?= $(shell command -v ccache)
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

BABELTRACE ?= babeltrace2
DEBUGINFOD ?= libdebuginfod
CAPSTONE ?= capstone
CURL ?= libcurl
NCURSES ?= ncursesw

# library: pkg-config name
LIBS = sqlite3 libarchive libelf libdw libzstd zlib liblzma json-c \
	$(BABELTRACE) $(CAPSTONE) $(CURL) $(NCURSES)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS) 2>/dev/null)
# These are loaded when they are needed, by stitch/base/shared_library.h
LOADED = libarchive $(BABELTRACE) $(CURL) $(CAPSTONE)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(filter-out $(LOADED),$(LIBS)) 2>/dev/null)

CFLAGS ?= -O2 -g
# For x86-64, gcc copies and clears structures of some hundred bytes by "rep",
# which takes some 30 cycles to begin; loops of moves of 16 bytes do not.
STRUCTS := vector_loop:1024:noalign,libcall:-1:noalign
STRUCTS := -mmemcpy-strategy=$(STRUCTS) -mmemset-strategy=$(STRUCTS)
STRUCTS := $(shell $(CC) $(STRUCTS) -fsyntax-only -x c /dev/null 2>/dev/null \
	&& echo '$(STRUCTS)')
# Link-time optimization of what an ingest runs, with gcc: 5 % fewer instructions
# for a link that takes ten seconds of two processors. Test programs are linked
# from the same objects without it, so a compiler that only warns that it cannot
# make such objects, as clang 14 does, is not asked for any.
LTO := $(if $(SAN),,$(shell echo 'int x;' | $(CC) -Werror -flto=auto \
	-ffat-lto-objects -c -o /dev/null -x c - 2>/dev/null && echo -flto=auto))
LTO_DIRS = stitch formats schema
lto = $(if $(LTO),$(if $(filter $(LTO_DIRS:%=$(O)/%/%.o),$@), \
	$(LTO) -ffat-lto-objects))
# Machines of 32 bits: files and times of 64, and numbers of an x87 that are
# rounded where they are stored.
WORDS := $(shell $(CC) -Werror -fexcess-precision=standard -fsyntax-only -x c \
	/dev/null 2>/dev/null && echo -fexcess-precision=standard)
WORDS += -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
# Machines that multiply and add in one step would round once where x86-64
# rounds twice.
WORDS += $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | \
	grep -q 'define __FP_FAST_FMA ' && echo -ffp-contract=off)
ALL_CFLAGS = -std=$(CSTD) -D_GNU_SOURCE $(WORDS) -I. -I$(O) $(STRUCTS) $(CPPFLAGS) $(CFLAGS) \
	$(if $(LTO),-fno-lto) \
	-Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes \
	-Wstrict-prototypes $(WERROR) $(PKG_CFLAGS) -pthread \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all)
# Flags behind CFLAGS, of what runs for a moment only: test programs and these.
BRIEF_CFLAGS =
BRIEF_DIRS = analyze cli symbolize formats/ctf formats/ftext formats/tracepoint \
	schema/merge schema/sql schema/functions
brief = $(if $(filter $(BRIEF_DIRS:%=$(O)/%/%.o),$@),$(BRIEF_CFLAGS))
ALL_LIBS = $(LDFLAGS) $(PKG_LIBS) -liberty -lm -pthread
WERROR ?=

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))
SUB = +@$(MAKE) --no-print-directory
SUBJ = $(SUB) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

# Sources are found in their folders. Files that call an optional library are
# those that include its header; in a build without it the files NAME_none.c of
# their folder take their place.
find = $(sort $(shell find $(1) -name '*.$(2)'))
calls = $(shell grep -lE '^.include [<"]($(1))[>"]' $(wildcard $(2)/*.c))
twins = $(if $(1),$(wildcard $(3)/*_none.c),$(call calls,$(2),$(3)))
CTFOUT := cli/export/ctf
LEFT_OUT := schema/functions/extension.c $(CTFOUT)/ctfout_plugin.c \
	cli/embed/embed_empty.c \
	$(call twins,$(BABELTRACE),$(CTFOUT)/ctfout_bt.h,$(CTFOUT)) \
	$(call twins,$(DEBUGINFOD),elfutils/debuginfod.h,symbolize/files) \
	$(call twins,$(CAPSTONE),capstone/capstone.h,symbolize/disasm) \
	$(call twins,$(CURL),curl/curl.h,cli/clickhouse) \
	$(call twins,$(NCURSES),cli/view/cells.h,cli/view)
# What --version says is missing.
WITHOUT := $(if $(BABELTRACE),,libbabeltrace2) \
	$(if $(CAPSTONE),,libcapstone) $(if $(CURL),,libcurl) \
	$(if $(DEBUGINFOD),,libdebuginfod) $(if $(NCURSES),,libncursesw)
SRCS := $(filter-out $(LEFT_OUT), \
	$(call find,stitch formats symbolize schema,c))
CLI := $(filter-out $(LEFT_OUT),$(call find,analyze cli,c))
# backstitch_sql.so has our SQL functions for any program that uses SQLite: all
# of schema/functions, and what these files need, which the linker checks.
EXT_SRCS := $(wildcard schema/functions/*.c) schema/db/queries.c cli/embed/hooks.c \
	symbolize/names/demangle.c stitch/order/clocks.c \
	$(addprefix stitch/base/,intern.c mem.c table.c)
# The plugin of babeltrace2 that reads databases: what reading needs.
PLUGIN_SRCS := $(filter-out %/ctfout_graph.c \
	%_none.c,$(wildcard $(CTFOUT)/*.c)) \
	$(filter-out %/extension.c schema/merge/%, \
	$(call find,schema stitch/base stitch/files,c)) \
	$(wildcard stitch/audit/*.c stitch/order/*.c formats/tracepoint/*.c) \
	stitch/image_status.c stitch/task_state.c stitch/verdict.c stitch/tasks/frame.c \
	$(addprefix analyze/samples/,chains.c code.c events.c filter.c loss_marks.c \
	payloads.c) \
	$(addprefix stitch/text/,human.c json.c parse_number.c safe_text.c)
PLUGIN := $(if $(BABELTRACE),$(O)/plugin/babeltrace-plugin-backstitch.so)
# Empty where the objects of the program can be in a library, too: the plugin is
# linked from these.
PLUG = plug/
PLUGIN_OBJS := $(if $(PLUGIN),$(O)/$(PLUG)schema_sql.o \
	$(O)/$(PLUG)schema_empty.o \
	$(PLUGIN_SRCS:%.c=$(O)/$(PLUG)%.o))
SQL := $(call find,schema,sql)
COLUMNS := $(O)/schema/columns.h $(O)/schema/trust_classes.h
UNIT := $(wildcard tests/unit/*.c)
OBJS := $(SRCS:%.c=$(O)/%.o) $(O)/schema_sql.o $(O)/schema_empty.o
EXT := $(O)/backstitch_sql.so
EXT_OBJS := $(EXT_SRCS:%.c=$(O)/pic/%.o) $(O)/pic/schema_sql.o
TEXT := $(call find,cli,css) $(call find,cli,js) $(call find,cli,html) \
	analyze/latency/calls.txt
CLI_OBJS := $(CLI:%.c=$(O)/%.o) $(if $(TEXT),$(O)/cli_text.o)
UNIT_BIN := $(UNIT:tests/%.c=$(O)/%)
DAMAGE_BIN := $(patsubst tests/%.c,$(O)/%,$(wildcard tests/damage/*.c))
BENCH_BIN := $(patsubst tests/%.c,$(O)/%,$(filter-out %/load.c \
	%/bare.c %/mkctf.c, $(wildcard tests/bench/*.c)))
TRUTH := $(wildcard tests/truth/*.c)
TRUTH_OBJS := $(TRUTH:%.c=$(O)/%.o)
NAMES_BIN := $(patsubst tests/%.c,$(O)/%,$(wildcard tests/names/*.c \
	tests/libdw/*.c))
FUZZ_BIN := $(patsubst tests/%.c,%,$(wildcard tests/fuzz/*.c))

.PHONY: all deps deps-build demo demo-build check check-build check-run unit \
	check-long builds ci-build ci-program ci-plain ci-san check-style style-run \
	causality twins advice pairs faults growth bench bench-run fuzz fuzz-build \
	cov-build check-san \
	san-build check-hard mkcap install uninstall dist \
	clean FORCE
.DELETE_ON_ERROR:

all: $(O)/backstitch $(EXT) $(PLUGIN)
	$(Q)ln -sf $(O)/backstitch backstitch

$(O)/backstitch: $(CLI_OBJS) $(OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -fno-lto,$(ALL_CFLAGS)) $(LTO) \
		-o $@ $(CLI_OBJS) $(OBJS) $(ALL_LIBS)

# Nothing of it is seen but its entry. Sanitizers are the loading program's to
# have: sqlite3 and Python have none.
EXT_CFLAGS = $(filter-out -fsanitize% -fno-sanitize-recover=%,$(ALL_CFLAGS)) \
	-fPIC -fvisibility=hidden -DBACKSTITCH_EXTENSION
PLUGIN_CFLAGS = $(filter-out -DBACKSTITCH_EXTENSION,$(EXT_CFLAGS))
$(EXT): $(EXT_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(EXT_CFLAGS) $(filter-out -no-pie,$(LDFLAGS)) -shared -Wl,-z,defs \
		-Wl,--exclude-libs,ALL -o $@ $(EXT_OBJS) -liberty

$(PLUGIN): $(PLUGIN_OBJS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PLUGIN_CFLAGS) $(filter-out -no-pie,$(LDFLAGS)) -shared -Wl,-z,defs \
		-Wl,--as-needed -o $@ $(PLUGIN_OBJS) $(PKG_LIBS) \
		$(shell $(PKG_CONFIG) --libs $(BABELTRACE)) -pthread

# A build in the same folder with other flags starts afresh.
FLAGS_NOW = $(CC) $(ALL_CFLAGS) $(BRIEF_CFLAGS) $(UNIT_CFLAGS) $(if $(LTO),$(LTO) $(LTO_DIRS)) \
	$(ALL_LIBS) without $(LEFT_OUT)
$(O)/flags: FORCE | $(O)/probe
	$(Q)echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' >$@

# Says which library is missing before the compiler stumbles over it.
$(O)/probe: tests/deps.sh
	$(Q)mkdir -p $(O)
	$(Q)CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' BABELTRACE='$(BABELTRACE)' \
		DEBUGINFOD='$(DEBUGINFOD)' CAPSTONE='$(CAPSTONE)' \
		CURL='$(CURL)' NCURSES='$(NCURSES)' \
		tests/deps.sh probe
	$(Q)touch $@

$(O)/cli/main.o: private CFLAGS += -DWITHOUT='"$(strip $(WITHOUT))"'
# What is known of the code of files is void where others find it out.
CODE_RULES := $(wildcard $(patsubst %,symbolize/%/*.[ch],cfi disasm elf unwind))
$(O)/symbolize/files/code_cache.o: private ALL_CFLAGS += \
	-DCODE_RULES=$(shell cat $(CODE_RULES) | cksum | cut -d' ' -f1)u
$(O)/symbolize/files/code_cache.o: $(CODE_RULES)
$(O)/%.o: %.c $(O)/flags | $(O)/probe $(COLUMNS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) $(lto) $(brief) -MMD -MP -c -o $@ $<

$(O)/schema_sql.c: $(SQL) schema/embed.sh schema/columns.awk \
		schema/trust_classes.awk schema/trust_classes.txt | $(O)/probe
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)schema/embed.sh $(SQL) >$@

# The pages of an empty database, made by SQL: by a program of the build.
EMBED_EMPTY := cli/embed/embed_empty schema/db/empty_sql schema/db/queries \
	schema_sql stitch/base/mem
$(O)/embed_empty: $(EMBED_EMPTY:%=$(O)/%.o)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(PKG_LIBS)
$(O)/schema_empty.c: $(O)/embed_empty
	$(call say,EMBED,$@)
	$(Q)$(RUN) $< >$@

# The columns of our queries by name. Sources include it, so it is made first.
$(O)/schema/trust_classes.h: schema/trust_classes.awk schema/trust_classes.txt | $(O)/probe
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -v out=header -f $^ >$@
$(O)/schema/columns.h: $(SQL) schema/columns.awk | $(O)/probe
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -v out=header -f schema/columns.awk $(SQL) >$@

$(O)/pic/%.o: %.c $(O)/flags | $(O)/probe $(COLUMNS)
	$(call say,PIC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(EXT_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/plug/%.o: %.c $(O)/flags | $(O)/probe $(COLUMNS)
	$(call say,PLUG,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(PLUGIN_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/plug/schema_sql.o $(O)/plug/schema_empty.o: $(O)/plug/%.o: $(O)/%.c \
		$(O)/flags
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PLUGIN_CFLAGS) -c -o $@ $<
$(O)/pic/schema_sql.o: $(O)/schema_sql.c $(O)/flags
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(EXT_CFLAGS) -c -o $@ $<

$(O)/cli_text.c: $(TEXT) $(wildcard cli/embed/embed.sh) | $(O)/probe
	$(call say,EMBED,$@)
	$(Q)cli/embed/embed.sh $(TEXT) >$@

$(O)/schema_sql.o $(O)/schema_empty.o $(O)/cli_text.o: $(O)/%.o: $(O)/%.c \
		$(O)/flags
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Everything but main(), so that a test program takes what it names.
$(O)/all.a: $(OBJS) $(filter-out $(O)/cli/main.o,$(CLI_OBJS))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# One program per file of tests/unit, tests/damage, tests/bench, tests/names.
CHECK_FLAGS = $(shell $(PKG_CONFIG) --cflags --libs check)
define test_program
$(O)/$(1)/%: tests/$(1)/%.c $(O)/all.a $(O)/flags
	$$(call say,LINK,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$$(CC) $$(ALL_CFLAGS) $$(BRIEF_CFLAGS) -MMD -MP -MF $$@.d -o $$@ \
		$(3) $$< $(O)/all.a $(2) $$(ALL_LIBS)
endef
# What a unit test does itself is little: gcc takes 0.15 s for one, and 0.7 to
# 1 s with -O2, of which the link is 0.05 s.
UNIT_CFLAGS = -O0 -U_FORTIFY_SOURCE
$(eval $(call test_program,unit,$$(CHECK_FLAGS),$$(UNIT_CFLAGS)))
$(eval $(call test_program,damage))
$(eval $(call test_program,bench))
$(eval $(call test_program,names))
$(eval $(call test_program,libdw))

# One program of several files.
$(O)/truth/truth: $(TRUTH_OBJS) $(O)/all.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(TRUTH_OBJS) $(O)/all.a $(ALL_LIBS)

$(O)/mkcap $(O)/mkftrace: $(O)/%: tests/%.c $(O)/flags
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $<
mkcap: $(O)/mkcap $(O)/mkftrace

# The example must build as anybody would build it.
$(O)/selfunwind: tests/example/selfunwind.c $(O)/flags
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -Werror -O1 -g \
		-fno-omit-frame-pointer -o $@ $<

unit: $(UNIT_BIN)
	$(Q)O=$(O) tests/run.sh unit

# libFuzzer is clang's; its objects live apart: make fuzz builds
# build-fuzz/fuzz/NAME for every tests/fuzz/NAME.c. make fuzz T=600 also runs
# each of them for 600 s, and prints how many lines of the readers that reached.
$(O)/fuzz/%: tests/fuzz/%.c $(O)/all.a $(O)/flags
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -fsanitize=fuzzer -o $@ $< \
		$(O)/all.a $(ALL_LIBS)
comma := ,
# Clang takes 1.1 s for a unit test with -O1, and 0.3 s without; 60 s for cli/,
# and 25 s without, and its tests take 2 % longer. Of all but stitch/base and
# schema/db, what is compiled in 60 s less is tested in 40 s more. lld links a test
# in 0.1 s, ld in 0.35 s.
# At a fixed address: else each start would relocate 400,000 pointers of the tables
# of sanitizers and coverage, which is a quarter of its time.
# A fuzzer that runs for minutes learns from each comparison; being told of them
# costs all units half as much time again, for which a run of a second is too
# short.
GUIDE = inline-8bit-counters,pc-table$(if $(T),$(comma)indirect-calls$(comma)trace-cmp)
SAN_FLAVOUR = O=build-fuzz CC=clang BRIEF_CFLAGS=-O0 SAN=address,undefined \
	CFLAGS='-O1 -gline-tables-only -fsanitize-coverage=$(GUIDE)' \
	LDFLAGS='-no-pie $(if $(shell command -v ld.lld 2>/dev/null),-fuse-ld=lld \
		-Wl$(comma)--no-mmap-output-file)'
COV_FLAVOUR = O=build-cov CC=clang SAN= CFLAGS='-O1 -g \
	-fprofile-instr-generate -fcoverage-mapping'
fuzz:
	$(SUBJ) $(SAN_FLAVOUR) fuzz-build
ifdef T
	$(SUBJ) $(COV_FLAVOUR) cov-build
	@tests/fuzz_table.py $(T) $(FUZZ)
endif
fuzz-build: $(FUZZ_BIN:%=$(O)/%)
cov-build: $(O)/backstitch $(UNIT_BIN) fuzz-build

# What sanitizers are good for, with the build that the fuzzers need anyway. A
# comparison of real captures shows under sanitizers what it shows without.
SAN_GROUPS = cases truth cli damage unit fuzz
check-san: deps
	$(SUBJ) $(SAN_FLAVOUR) san-build
	$(SUB) $(SAN_FLAVOUR) GROUPS='$(SAN_GROUPS)' check-run
# The plugin has no sanitizers: 'make check' tests it.
san-build: $(O)/backstitch $(EXT) \
	$(filter %/ctfout_plugin.o,$(PLUGIN_OBJS)) $(UNIT_BIN) $(DAMAGE_BIN) \
	$(if $(filter truth,$(SAN_GROUPS)),$(O)/truth/truth) \
	$(O)/mkcap $(O)/mkftrace $(O)/selfunwind fuzz-build

# A build with flags that distributions use. No tests are run on it. Without -g,
# it takes less time and gives the same warnings; with -flto, types are compared
# across all files, as check-definitions.sh does by their declarations.
HARD_FLAGS = -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wformat \
	-Werror=format-security
check-hard: deps-build
	$(SUBJ) O=build-hard LTO= CFLAGS='-O3 -flto=auto -fPIE $(HARD_FLAGS)' \
		LDFLAGS='-pie -Wl,-z,relro,-z,now' build-hard/backstitch

deps:
	@O='$(O)' tests/deps.sh install all
deps-build:
	@tests/deps.sh install build

# A sub-make, because pkg-config is asked when the Makefile is read. What is shown
# first is built first: the program alone, in half the time of 'make all'.
DEMO_FLAVOUR = O=build-demo LTO= CFLAGS=-O1
demo: deps-build
	$(SUBJ) $(DEMO_FLAVOUR) demo-build
	@tests/demo.sh build-demo/backstitch demo
demo-build: $(O)/backstitch
	$(Q)ln -sf $< backstitch

# What shows in six minutes of two processors whether a change is sound: the
# fuzzers need the build of 'make check-san', and servers of the group fleet are
# killed and started for a minute, by .ci/run and check-long. No test reads more
# debug information than lines, and all of it is a fifth of gcc's work; nor needs
# any the link with optimization, which takes as long: the build is one of its
# own, and check-long tests the program of 'make all'.
GROUPS = cases truth compare browser cli unit docs damage
# The 130 files that the plugin of babeltrace2 shares with the program are
# compiled once.
PLAIN_CFLAGS = -O2 -g1 -fPIC -fvisibility=hidden -fstack-protector-strong \
	-D_FORTIFY_SOURCE=2 -Werror=format-security
PLAIN_FLAVOUR = LTO= PLUG= CFLAGS='$(PLAIN_CFLAGS)' \
	LDFLAGS='-Wl,-z,relro,-z,now'
# make O=DIR check tests what the user builds there
CHECK_FLAVOUR = $(if $(filter file,$(origin O)),O=build-check $(PLAIN_FLAVOUR))
check:
	$(SUB) $(CHECK_FLAVOUR) deps
	$(SUBJ) $(CHECK_FLAVOUR) check-build
	$(SUB) $(CHECK_FLAVOUR) check-run
# What the groups need that are wanted, or a test of them.
for_group = $(if $(filter $(GROUPS),$(1)),$(2),$(filter \
	$(patsubst %,$(O)/%,$(GROUPS)),$(2)))
check-build: all $(call for_group,unit,$(UNIT_BIN)) \
	$(call for_group,damage,$(DAMAGE_BIN)) $(NAMES_BIN) $(O)/truth/truth \
	$(call for_group,compare,$(O)/damage/ctf_meta) \
	$(O)/mkcap $(O)/mkftrace $(O)/selfunwind $(call for_group,fuzz,fuzz)
check-run:
	@O=$(O) tests/run.sh $(GROUPS)

# What a release passes: all that there is to test, which takes an hour.
check-long: deps
	$(SUBJ) check-hard
	$(SUBJ) GROUPS='$(GROUPS) fleet' check-build
	LONG=1 $(MAKE) GROUPS='$(GROUPS) fleet' check-run
	LONG=1 FUZZ_SECONDS=60 $(MAKE) check-san
	$(MAKE) faults causality twins pairs

# The two builds that .ci/run tests, in one queue of compilers and linkers.
ci-build:
	$(SUBJ) ci-plain ci-san
# What needs no package but those of deps-build.
ci-program:
	$(SUBJ) $(PLAIN_FLAVOUR) all
ci-plain:
	$(SUB) $(PLAIN_FLAVOUR) check-build
ci-san:
	$(SUB) $(SAN_FLAVOUR) SAN_GROUPS= san-build

# By other compilers, for other standards of C, without optional libraries: B=
# takes names of the table in tests/builds.sh (B=c11,clang); without it all.
builds: deps
	@O='$(O)' tests/builds.sh $(subst $(comma), ,$(B))

check-style: deps
	$(SUB) style-run
style-run:
	@O=$(O) tests/run.sh style

# Every command while calls fail and signals come.
faults: deps-build
	$(SUBJ) all mkcap
	@python3 tests/faults/faults.py $(O)
	@FAULTS_BIG=2000000 FAULTS_MAX=200 python3 tests/faults/faults.py $(O)
	@python3 tests/faults/hostile.py $(O) 1000
	@python3 tests/faults/limits.py $(O)

# Chains of causes in captures with losses; N records are removed, and all waits
# asked for.
N ?= 200000
PATH_ASKED = --table -v --prepare \
	'$(O)/backstitch ingest -q -f --no-symbols -o {db} {capture}'
PATH_ALL = --all '$(O)/backstitch path --json --idle --worst 1000000 {db}'
PATH_ONE = --tool \
	'$(O)/backstitch path --json --tid {tid} --time {from_s},{to_s} {db}'
causality: deps-build
	$(SUBJ) all
	@python3 tests/causality/bench.py --removals $(N) $(PATH_ASKED) $(PATH_ALL)
	@python3 tests/causality/bench.py --captures 30 $(PATH_ASKED) $(PATH_ONE) \
		--recorded tests/causality/captures
	@python3 tests/causality/bench.py --captures 30 $(PATH_ASKED) $(PATH_ONE) \
		--recorded tests/causality/captures --records

# Words about frame-pointer stacks, held against the true stacks of dumps; TWINS
# are options of the bench.
twins: deps-build
	$(SUBJ) all
	@python3 tests/twins/twins.py --program $(O)/backstitch \
		--folder $(O)/twins --table $(O)/twins.json --whole 99 $(TWINS)
	@! command -v node >/dev/null || \
		python3 tests/twins/generated.py --program $(O)/backstitch
	@python3 tests/twins/walks.py --program $(O)/backstitch \
		--folder $(O)/twins/walks
	@python3 tests/twins/files.py --program $(O)/backstitch \
		--folder $(O)/twins/files

# What the advice of the sentence of trust promises, held against what it reaches.
advice: deps-build
	$(SUBJ) all
	@python3 tests/advice/advice.py --program $(O)/backstitch \
		--folder $(O)/advice

# Proved intervals of `latency`, held against the kernel's rules, other programs and
# programs' own logs: N of each kind (N=300000: half an hour), or what two minutes
# make; PAIRS are options of the bench.
pairs: deps-build
	$(SUBJ) all
	@python3 tests/pairs/pairs.py --program $(O)/backstitch $(if $(filter \
		command line,$(origin N)),--count $(N) --rounds 4 --seconds 2 \
		--removed 100000) $(PAIRS)

# Time and memory of many things, and of one capture of 2 GB (GB=10).
GB ?= 2
growth: deps-build
	$(SUBJ) all mkcap
	@python3 tests/bench/growth.py $(O); rc=$$?; \
		python3 tests/bench/grow_commands.py $(O)/backstitch || rc=1; \
		python3 tests/bench/growth.py $(O) --large $(GB) && exit $$rc

bench:
	@tests/deps.sh install bench
	$(SUBJ) all mkcap $(BENCH_BIN) $(NAMES_BIN)
	$(SUB) bench-run
bench-run:
	@O=$(O) tests/bench/bench.sh $(BENCH)

# Quoted, for folders with blanks; uninstall leaves folders that may be shared.
BIN = '$(DESTDIR)$(PREFIX)/bin'
LIB = '$(DESTDIR)$(LIBDIR)/backstitch'
BABELTRACE_PLUGINS ?= $(LIBDIR)/babeltrace2/plugins
PLUGINS = '$(DESTDIR)$(BABELTRACE_PLUGINS)'
SHARE = '$(DESTDIR)$(PREFIX)/share'
BASH_DIR = $(SHARE)/bash-completion/completions
ZSH_DIR = $(SHARE)/zsh/site-functions
FISH_DIR = $(SHARE)/fish/vendor_completions.d
MAN = $(wildcard man/*.[1-9])
install: all
	install -d $(BIN) $(LIB) $(SHARE)/doc/backstitch
	install -m 755 $(O)/backstitch $(BIN)/backstitch
	install -m 644 $(EXT) $(LIB)/backstitch_sql.so
	$(if $(PLUGIN),install -d $(PLUGINS) && \
		install -m 644 $(PLUGIN) $(PLUGINS))
	install -m 644 README.md NEWS.md SECURITY.md LICENSE \
		$(SHARE)/doc/backstitch
	@for m in $(MAN); do d=$(SHARE)/man/man$${m##*.}; \
		install -d "$$d" && install -m 644 $$m "$$d" || exit 1; done
	install -d $(SHARE)/backstitch/json
	install -m 644 man/json/*.json $(SHARE)/backstitch/json
	$(O)/backstitch help agent >$(SHARE)/backstitch/agent.txt
	install -d $(BASH_DIR) $(ZSH_DIR) $(FISH_DIR)
	$(O)/backstitch completion bash >$(BASH_DIR)/backstitch
	$(O)/backstitch completion zsh >$(ZSH_DIR)/_backstitch
	$(O)/backstitch completion fish >$(FISH_DIR)/backstitch.fish

uninstall:
	rm -f $(BIN)/backstitch $(BASH_DIR)/backstitch \
		$(ZSH_DIR)/_backstitch $(FISH_DIR)/backstitch.fish
	@for m in $(MAN); do \
		rm -f $(SHARE)/man/man$${m##*.}/$${m##*/} || exit 1; done
	rm -f $(PLUGINS)/babeltrace-plugin-backstitch.so
	rm -rf $(LIB) $(SHARE)/doc/backstitch $(SHARE)/backstitch

# A tarball of what is committed, the same bytes on every machine: DIST=FOLDER
DIST ?= .
VERSION = $(shell sed -n 's/^.define VERSION "\(.*\)"/\1/p' cli/version.h)
TARBALL = backstitch-$(VERSION)
dist:
	$(Q)git -c tar.umask=0022 archive --format=tar --prefix=$(TARBALL)/ \
		-o $(DIST)/$(TARBALL).tar HEAD
	$(Q)GZIP= gzip -n -9 -f $(DIST)/$(TARBALL).tar
	@echo $(DIST)/$(TARBALL).tar.gz

clean:
	rm -rf build build-san build-fuzz build-cov build-hard \
		build-check build-demo demo backstitch

-include $(OBJS:.o=.d) $(EXT_OBJS:.o=.d) $(PLUGIN_OBJS:.o=.d) $(CLI_OBJS:.o=.d) $(TRUTH_OBJS:.o=.d) \
	$(wildcard $(O)/*.d $(O)/*/*.d)
