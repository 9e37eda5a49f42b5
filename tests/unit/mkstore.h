/* mkstore.h - a small run and the facts of it, for tests of the store. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/maker.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/ledger.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "stitch/symbol.h"
#include "stitch/base/table.h"
#include "tests/unit/run.h"

#define KERNEL_ADDR 0xffffffff81000000u

/* A small run: one capture, two events, a handful of stacks. */
struct run {
	struct frames *fr;
	struct ledger *lg;
	struct maker *mk; /* NULL: finished, or not begun */
	struct store *db; /* the finished database */
	struct event_def event[3];
	struct source src;
	uint32_t events;
	char dir[64], path[96];
};

static struct run run;
static struct err err;

static inline void ok(int rc)
{
	ck_assert_msg(rc == 0, "%s", err.msg);
}

static const struct source_ops ops = { .name = "test" };

static inline void open_store(bool temp, bool no_thread)
{
	/* what is inserted without a thread is inserted by SQL alone */
	struct maker_opts o = { .temp_dir = run.dir,
				.no_thread = no_thread,
				.no_pages = no_thread };

	run.mk = temp ? maker_create_temp(&o, run.fr, &err)
		      : maker_create(run.path, &o, run.fr, &err);
	ck_assert_msg(run.mk != NULL, "%s", err.msg);
	ok(store_capture(run.mk, &run.src, &err));
}

static inline void mkstore_set_up(void)
{
	static struct field_def fields[] = {
		{ .name = "pid", .is_signed = true },
		{ .name = "PID" },
		{ .name = "event_id" },
		{ .name = "na\"me", .is_text = true },
		{ .name = "data", .is_blob = true },
	};

	memset(&run, 0, sizeof(run));
	memset(&err, 0, sizeof(err));
	snprintf(run.dir, sizeof(run.dir), "/tmp/store-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(run.dir));
	snprintf(run.path, sizeof(run.path), "%s/x.db", run.dir);
	run.fr = frames_new();
	run.lg = ledger_new();
	run.event[0] = (struct event_def){ .name = "cpu-clock",
					   .has_chain = true,
					   .has_cpu = true,
					   .has_time = true,
					   .defer = true };
	run.event[1] = (struct event_def){ .name = "sched:sched_switch",
					   .type = 2,
					   .fields = fields,
					   .n_fields = 5,
					   .format = "name: sched_switch" };
	run.event[2] = (struct event_def){ .name = "late", .type = 2 };
	run.src = (struct source){ .ops = &ops,
				   .path = (char *)"perf.data",
				   .size = 1000,
				   .events = run.event,
				   .n_events = 2 };
	run.src.info.cpus_online = 4;
	run.src.info.system_wide = TRI_YES;
	run.src.info.exact = true;
}

static inline void tear_down(void)
{
	char cmd[128];

	maker_free(run.mk);
	store_close(run.db);
	ledger_free(run.lg);
	frames_free(run.fr);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", run.dir);
	ck_assert_int_eq(system(cmd), 0);
}

/* ---- making facts */

static inline uint32_t mkstore_image(enum image_kind kind, const char *path)
{
	struct image m = { .kind = kind,
			   .path = path,
			   .id = { 1, 2, 3 },
			   .id_len = kind == IMAGE_FILE ? 3 : 0 };

	return frames_image(run.fr, &m);
}

/* A stack of n frames in one image, innermost first, and its raw chain. */
static inline uint32_t mkstore_chain_of(uint32_t img, const uint64_t *off,
					uint32_t n, uint64_t base)
{
	uint64_t ip[64];
	uint32_t stack = 0;

	for (uint32_t i = n; i-- > 0;) {
		struct frame f = { .image = img, .off = off[i] };

		stack = frames_push(run.fr, stack, frames_frame(run.fr, &f));
		ip[i] = base + off[i];
	}
	struct addrs a = { .ip = ip, .n = n };

	return frames_raw(run.fr, stack, &a, hash_u64s(ip, n, 0));
}

static inline void mkstore_event(uint32_t type, uint64_t weight, uint32_t kraw,
				 uint32_t uraw, const struct record *rec)
{
	struct fact f = { .kind = FACT_EVENT };

	f.event = (struct fact_event){ .id = ++run.events,
				       .time = 1000 + run.events,
				       .cpu = (int32_t)run.events % 4,
				       .thread = 1,
				       .comm = 1,
				       .type = type,
				       .weight = weight,
				       .kraw = kraw,
				       .uraw = uraw,
				       .rec = rec };
	ok(store_fact(run.mk, &f, &err));
}

static inline void mkstore_request(uint32_t id, enum request_verdict v,
				   uint32_t chain, uint32_t uraw,
				   uint32_t flags)
{
	struct fact f = { .kind = FACT_REQUEST };

	f.request = (struct fact_request){ .event = id,
					   .cookie = 7,
					   .chain = chain,
					   .uraw = uraw,
					   .verdict = v,
					   .confidence = chain ? CONF_PROVED
							       : CONF_EXPLAINED,
					   .flags = flags,
					   .loss = v == REQ_CHAIN_LOST,
					   .latency = chain ? 500 : TIME_NONE };
	ok(store_fact(run.mk, &f, &err));
}

static inline void deferred(uint32_t id, enum chain_verdict v, uint32_t uraw,
			    uint32_t n_events)
{
	struct fact f = { .kind = FACT_CHAIN };

	f.chain = (struct fact_chain){ .id = id,
				       .time = 2000,
				       .cpu = 1,
				       .thread = 1,
				       .cookie = 7,
				       .uraw = uraw,
				       .verdict = v,
				       .confidence = CONF_PROVED,
				       .quality = QUALITY_OPEN,
				       .n_events = n_events };
	ok(store_fact(run.mk, &f, &err));
}

static inline void people(const char *comm)
{
	struct fact p = { .kind = FACT_PROCESS };
	struct fact t = { .kind = FACT_THREAD };
	struct fact c = { .kind = FACT_COMM };
	struct fact m = { .kind = FACT_MAPPING };

	p.process = (struct fact_process){ 1, 0, 42, 0, TIME_NONE, 5000 };
	t.thread = (struct fact_thread){ 1, 1, 43, 900, TIME_NONE };
	c.comm = (struct fact_comm){ 1, 1, TIME_NONE, 0, comm };
	m.mapping =
		(struct fact_mapping){ 1, 1, 0x400000, 0x401000, 0x1000,
				       1, 5, 2,	       900,	 TIME_NONE };
	ok(store_fact(run.mk, &p, &err));
	ok(store_fact(run.mk, &t, &err));
	ok(store_fact(run.mk, &c, &err));
	ok(store_fact(run.mk, &m, &err));
}

static const uint64_t user_off[] = { 0x1010, 0x1100, 0x1100, 0x1200 };
static const uint64_t kernel_off[] = { 0x10, 0x20 };
static uint32_t user_raw, kernel_raw, user_image, kernel_image;

/* Six samples: direct, joined, lost, after exec, user only, empty chain. */
static inline void mkstore_fill(const char *comm)
{
	user_image = mkstore_image(IMAGE_FILE, "/usr/bin/app");
	kernel_image = mkstore_image(IMAGE_KERNEL, "[kernel.kallsyms]");
	user_raw = mkstore_chain_of(user_image, user_off, 4, 0x400000);
	kernel_raw = mkstore_chain_of(kernel_image, kernel_off, 2, KERNEL_ADDR);
	people(comm);
	mkstore_event(0, 10, kernel_raw, user_raw, NULL);
	mkstore_event(0, 20, kernel_raw, 0, NULL);
	mkstore_request(2, REQ_MATCHED, 1, user_raw, 0);
	mkstore_event(0, 40, kernel_raw, 0, NULL);
	mkstore_request(3, REQ_CHAIN_LOST, 0, 0, 0);
	mkstore_event(0, 80, kernel_raw, 0, NULL);
	mkstore_request(4, REQ_MATCHED, 1, user_raw, VERDICT_EXEC);
	mkstore_event(0, 160, 0, user_raw, NULL);
	mkstore_event(0, 320, kernel_raw, 0, NULL);
	mkstore_request(6, REQ_EMPTY, 2, 0, 0);
	deferred(1, CHAIN_USED, user_raw, 2);
	deferred(2, CHAIN_USED, 0, 1);
}

static inline void mkstore_finish(void)
{
	ledger_end(run.lg);
	run.db = maker_finish(run.mk, run.lg, &err);
	run.mk = NULL;
	ck_assert_msg(run.db != NULL, "%s", err.msg);
}

/* ---- asking */

static inline struct store *mkstore_read(void)
{
	return run.mk ? maker_read(run.mk, &err) : run.db;
}

static inline void mkstore_text_of(const char *sql, char *out, size_t size)
{
	struct rows *r = rows_open(mkstore_read(), sql, NULL, 0, &err);
	size_t n = 0;
	int rc;

	ck_assert_msg(r != NULL, "%s: %s", sql, err.msg);
	*out = '\0';
	while ((rc = rows_next(r, &err)) > 0)
		for (size_t i = 0; i < rows_columns(r); i++)
			n += (size_t)snprintf(
				out + n, size - n, "%s%s", rows_text(r, i),
				i + 1 < rows_columns(r) ? "|" : "\n");
	ck_assert_msg(rc == 0, "%s: %s", sql, err.msg);
	rows_close(r);
}

static inline void mkstore_expect(const char *sql, const char *want)
{
	char have[8192];

	mkstore_text_of(sql, have, sizeof(have));
	ck_assert_msg(!strcmp(have, want), "%s\n have:\n%s want:\n%s", sql,
		      have, want);
}

static inline void mkstore_name_all(void)
{
	static const char *const user[] = { "leaf", "loop", "main;\n\x1b" };
	const struct code_place *code;
	struct image img;
	uint32_t id;
	size_t n;
	int rc;

	ok(store_groups_end(run.mk, &err));
	while ((rc = store_unnamed(run.mk, 0, &id, &img, &code, &n, &err)) >
	       0) {
		struct segment seg = { 0x1000, 0x401000, 0x2000, 5 };

		if (id != user_image) {
			ok(store_image(run.mk, id, NULL, "no file", NULL, NULL,
				       0, &err));
			continue;
		}
		ck_assert_uint_eq(n, 3);
		ck_assert_str_eq(img.path, "/usr/bin/app");
		ck_assert_uint_eq(img.id_len, 3);
		for (size_t i = 0; i < n; i++) {
			struct symbol s = { .off = code[i].off,
					    .start = 0x1000,
					    .size = 0x400,
					    .name = user[i],
					    .raw_name = user[i],
					    .how = "symtab" };

			if (i == 1) { /* two functions inlined into loop */
				s.name = "tiny";
				ok(store_symbol(run.mk, id, &s, &err));
				s.depth = 1;
				s.name = "small";
				ok(store_symbol(run.mk, id, &s, &err));
				s.depth = 2;
				s.name = user[i];
			}
			ok(store_symbol(run.mk, id, &s, &err));
		}
		ok(store_image(run.mk, id, "/usr/bin/app", "named",
			       "proved: build-id", &seg, 1, &err));
	}
	ck_assert_msg(rc == 0, "%s", err.msg);
}
