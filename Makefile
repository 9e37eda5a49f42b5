# backstitch - see README.md. Plain make; `make V=1` shows the commands.
#   O=DIR       where objects go (default build)
#   SAN=LIST    -fsanitize=LIST, objects in build-san
#   PREFIX, DESTDIR  for install
PREFIX ?= /usr/local
SAN ?=
O ?= $(if $(SAN),build-san,build)
CC ?= gcc
PKG_CONFIG ?= pkg-config

# library: pkg-config name
LIBS = sqlite3 libelf libdw libzstd zlib liblzma libtraceevent json-c
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(LIBS) 2>/dev/null)

CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. $(CFLAGS) \
	-Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes \
	-Wstrict-prototypes $(WERROR) $(PKG_CFLAGS) -pthread \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ALL_LIBS = $(LDFLAGS) $(PKG_LIBS) -liberty -pthread
WERROR ?= -Werror

Q = $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)	$(2)")

SRCS := $(wildcard stitch/*.c formats/*.c symbolize/*.c schema/*.c)
CLI := $(wildcard cli/*.c)
SQL := $(wildcard schema/*.sql)
UNIT := $(wildcard tests/unit/*.c)
OBJS := $(SRCS:%.c=$(O)/%.o) $(O)/schema_sql.o
CLI_OBJS := $(CLI:%.c=$(O)/%.o) $(O)/cli_text.o
TEXT := $(wildcard cli/*.js cli/*.css)

.PHONY: all unit clean
all: $(O)/backstitch
	$(Q)ln -sf $(O)/backstitch backstitch

$(O)/backstitch: $(CLI_OBJS) $(OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(ALL_LIBS)

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/schema_sql.c: $(SQL) schema/embed.sh
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)schema/embed.sh $(SQL) >$@

$(O)/schema_sql.o: $(O)/schema_sql.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# script and style of pictures, as strings
$(O)/cli_text.c: $(TEXT) cli/embed.sh
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cli/embed.sh $(TEXT) >$@

$(O)/cli_text.o: $(O)/cli_text.c
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# one program per file of tests/unit, linked with everything but cli/
$(O)/unit/%: tests/unit/%.c $(OBJS)
	$(call say,UNIT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(OBJS) \
		$(shell $(PKG_CONFIG) --cflags --libs check) $(ALL_LIBS)

unit: $(UNIT:tests/unit/%.c=$(O)/unit/%)
	$(Q)for t in $^; do $$t || exit 1; done

clean:
	rm -rf build build-san backstitch

-include $(OBJS:.o=.d) $(CLI_OBJS:.o=.d)
