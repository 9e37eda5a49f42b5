/* store.c - facts go in, rows and views come out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/mapped_code.h"
#include "schema/db/groups.h"
#include "schema/db/sums_code.h"
#include "schema/write/write.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

START_TEST(every_fact_becomes_a_row)
{
	open_store(_i, _i);
	mkstore_fill("app");
	mkstore_finish();
	mkstore_expect("SELECT id,time_ns,cpu,thread,comm,type,weight,kraw,uraw"
		       " FROM event WHERE id IN (1,3,5)",
		       "1|1001|1|1|1|1|10|2|1\n3|1003|3|1|1|1|40|2|\n"
		       "5|1005|1|1|1|1|160||1\n");
	mkstore_expect("SELECT pid,parent,start_ns,end_ns FROM process",
		       "42|||5000\n");
	mkstore_expect("SELECT * FROM comm", "1|1||0|app|\n");
	mkstore_expect("SELECT * FROM mapping",
		       "1|1|4194304|4198400|4096|1|5|2|900|\n");
	mkstore_expect(
		"SELECT event,chain,uraw,verdict,latency_ns FROM request",
		"2|1|1|1|500\n3|||2|\n4|1|1|1|500\n6|2||12|500\n");
	mkstore_expect("SELECT id,uraw,verdict,quality,n_events FROM chain",
		       "1|1|1|5|2\n2||1|5|1\n");
	mkstore_expect("SELECT path,samples,first_ns,last_ns,cpus,system_wide,"
		       "exact_order,complete FROM capture",
		       "perf.data|6|1001|1006|4|1|1|1\n");
	mkstore_expect("SELECT kind, min(id) FROM word GROUP BY kind",
		       "as_perf|1\ncallsite|1\nchain|1\nconfidence|1\nend|1\n"
		       "gap|1\nimage|0\njudged|1\nlink|1\nquality|1\n"
		       "request|1\nstart|1\nunwind|1\nwalk|1\n");
	mkstore_expect("SELECT name,defer FROM event_type ORDER BY id",
		       "cpu-clock|1\nsched:sched_switch|0\n");
	mkstore_expect("SELECT line FROM maps",
		       "00400000-00401000 r-xp 00001000 00:00 0 "
		       "                                 /usr/bin/app\n");
	mkstore_expect(
		"SELECT event_id,pid,tid,comm,event,verdict,user_raw"
		" FROM samples WHERE event_id IN (1,2,3)",
		"1|42|43|app|cpu-clock||1\n2|42|43|app|cpu-clock|matched|1\n"
		"3|42|43|app|cpu-clock|chain_lost|\n");
}
END_TEST

START_TEST(recorded_addresses_come_back)
{
	static const uint64_t odd[] = {
		0, UINT64_MAX, 1, 0x8000000000000000u, 0x7fffffffffffffffu, 4096
	};
	uint64_t ip[6];

	open_store(true, false);
	uint32_t raw =
		mkstore_chain_of(mkstore_image(IMAGE_FILE, "a"), odd, 6, 0);

	mkstore_event(0, 1, 0, raw, NULL);
	mkstore_finish();
	struct rows *r = rows_open(
		run.db, store_sql("raw_chain"),
		&(struct value){ .kind = VALUE_INT, .num = raw }, 1, &err);

	ck_assert_int_eq(rows_next(r, &err), 1);
	struct value v = rows_value(r, RAW_CHAIN_ADDRS);

	ck_assert_int_eq(v.kind, VALUE_BLOB);
	ck_assert_int_eq(store_addrs(v.text, v.len, ip, 6), 6);
	ck_assert_mem_eq(ip, odd, sizeof(odd));
	ck_assert_int_eq(store_addrs(v.text, v.len, ip, 5), -1);
	ck_assert_int_eq(store_addrs(v.text, v.len - 1, ip, 6), -1);
	ck_assert_int_eq(store_addrs("\xff\xff\xff\xff\xff\xff\xff\xff\xff"
				     "\xff\xff\x01",
				     12, ip, 6),
			 -1);
	ck_assert_int_eq(store_addrs(NULL, 0, ip, 6), 0);
	rows_close(r);
}
END_TEST

static void put_group_sample(int32_t cpu, uint32_t comm, uint64_t weight)
{
	struct record rec = { .kind = REC_SAMPLE };
	struct fact f = { .kind = FACT_EVENT };

	f.event = (struct fact_event){ .id = ++run.events,
				       .time = 2000,
				       .cpu = cpu,
				       .comm = comm,
				       .weight = weight,
				       .rec = &rec };
	ok(store_fact(run.mk, &f, &err));
}

/* Of so many, not all are held. */
#define GROUPS_MANY 800000u

START_TEST(groups_that_are_held_have_one_row)
{
	const uint32_t n = 140000;

	open_store(true, false);
	mkstore_fill("app");
	for (uint32_t i = 0; i < 2 * n; i++)
		put_group_sample(0, 2 + i % n, i);
	mkstore_finish();
	mkstore_expect("SELECT count(*), sum(n) FROM sample_group"
		       " WHERE comm > 1",
		       "140000|280000\n");
}
END_TEST

/* Twice as many groups as are held: rows of one group add up. */
START_TEST(more_groups_than_are_held_add_up)
{
	const uint32_t n = GROUPS_MANY;

	if (RUN_ELSEWHERE)
		return;
	open_store(true, false);
	mkstore_fill("app");
	for (uint32_t i = 0; i < 2 * n; i++)
		put_group_sample(0, 2 + i % n, i);
	mkstore_finish();
	mkstore_expect("SELECT sum(n), sum(weight) FROM sample_group",
		       "1600006|1279999200630\n");
	mkstore_expect(
		"SELECT count(*), min(n), max(n), sum(weight = 2 * comm - 4 +"
		" 800000) FROM (SELECT comm, sum(n) AS n, sum(weight) AS weight"
		" FROM sample_group WHERE comm > 1 GROUP BY comm)",
		"800000|2|2|800000\n");
}
END_TEST

/* The second of each pair is like the one before on its CPU, while others come
 * between them and rows are written. */
START_TEST(samples_like_the_one_before_are_added_up)
{
	const uint32_t n = GROUPS_MANY;

	if (RUN_ELSEWHERE)
		return;
	open_store(true, false);
	mkstore_fill("app");
	for (uint32_t i = 0; i < 2 * n; i++)
		put_group_sample((int32_t)(i % 3), 2 + i / 6 * 3 + i % 3, i);
	mkstore_finish();
	mkstore_expect("SELECT sum(n), sum(weight) FROM sample_group",
		       "1600006|1279999200630\n");
	mkstore_expect(
		"SELECT count(*), sum(n = 2), sum(weight = 4 * comm - 8 + 3 -"
		" 2 * ((comm - 2) % 3)) FROM (SELECT comm, sum(n) AS n,"
		" sum(weight) AS weight FROM sample_group WHERE comm > 1"
		" GROUP BY comm)",
		"800001|799999|799999\n");
}
END_TEST

START_TEST(samples_are_added_up_by_name_and_stacks)
{
	struct fact c = { .kind = FACT_COMM };

	open_store(true, false);
	mkstore_fill("app");
	c.comm = (struct fact_comm){ 2, 1, 5, 0, "app" };
	ok(store_fact(run.mk, &c, &err));
	struct record rec = { .kind = REC_SAMPLE };
	struct fact f = { .kind = FACT_EVENT };

	f.event = (struct fact_event){ .id = ++run.events,
				       .time = 3000,
				       .comm = 2,
				       .weight = 1,
				       .kraw = kernel_raw,
				       .uraw = user_raw,
				       .rec = &rec };
	ok(store_fact(run.mk, &f, &err));
	mkstore_finish();
	mkstore_expect(
		"SELECT g.comm, k.depth, u.depth, g.mark, g.weight, g.n"
		" FROM sample_group g LEFT JOIN stack k ON k.id = g.kernel"
		" LEFT JOIN stack u ON u.id = g.user ORDER BY g.weight",
		"1|2|4||31|3\n1|2||-2|40|1\n1|2|4|2|80|1\n1||4||160|1\n"
		"1|2||-12|320|1\n");
}
END_TEST

static int store_add_group(void *arg, const struct store_group *g,
			   struct err *e)
{
	struct store_group *sum = arg;

	(void)e;
	sum->n += g->n;
	sum->weight += g->weight;
	return 0;
}

static void store_map(uint32_t id, uint64_t start, uint64_t len, uint32_t prot)
{
	struct fact m = { .kind = FACT_MAPPING };

	m.mapping =
		(struct fact_mapping){ id,     1,	   start, start + len,
				       0x1000, user_image, prot,  2,
				       5,      TIME_NONE };
	ok(store_fact(run.mk, &m, &err));
}

START_TEST(sums_need_each_mapped_code_once)
{
	open_store(true, false);
	store_sums_only(run.mk);
	user_image = mkstore_image(IMAGE_FILE, "/usr/bin/app");
	store_map(1, 0x400000, 0x1000, 5);
	store_map(2, 0x7f0000, 0x1000, 5);
	store_map(3, 0x400000, 0x2000, 5);
	store_map(4, 0x400000, 0x1000, 1);
	mkstore_name_all();
	mkstore_finish();
	mkstore_expect("SELECT id FROM mapping", "1\n3\n4\n");
}
END_TEST

/* What is mapped counts by its length. */
static uint64_t mapped_sum(void)
{
	struct mapped_parts parts;
	uint64_t sum = 0;
	size_t n;

	ok(mapped_parts_load(run.mk, &parts, &err));
	const struct image_part *part = mapped_parts_of(&parts, 1, &n);

	ck_assert_uint_eq(n, parts.n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(part[i].pgoff, 0);
		sum += part[i].len;
	}
	ck_assert_ptr_null(mapped_parts_of(&parts, 2, &n));
	ck_assert_uint_eq(n, 0);
	mapped_parts_release(&parts);
	return sum;
}

START_TEST(mapped_code_is_told_each_once_or_read_from_rows)
{
	/* with _i more than are kept in memory */
	const uint64_t n = _i ? 70000 : 3;
	uint32_t id = 0;

	open_store(_i == 2, _i == 2);
	ck_assert_uint_eq(mkstore_image(IMAGE_FILE, "a"), 1);
	for (uint64_t i = 1; i <= n; i++)
		for (int prot = 4; prot <= 6; prot++) {
			struct fact f = { .kind = FACT_MAPPING };

			/* twice the code, and once not for code */
			f.mapping = (struct fact_mapping){
				.id = ++id,
				.image = 1,
				.start = i << 20,
				.end = (i << 20) + i,
				.prot = prot == 6 ? 2 : 4,
			};
			ok(store_fact(run.mk, &f, &err));
		}
	ok(store_groups_end(run.mk, &err));
	ck_assert_uint_eq(mapped_sum(), n * (n + 1) / 2);
	mkstore_finish();
	if (_i == 2)
		return; /* it has no name */
	store_close(run.db);
	run.db = NULL;
	run.mk = maker_open(run.path, run.path, &err);
	ck_assert_msg(run.mk != NULL, "%s", err.msg);
	ck_assert_uint_eq(mapped_sum(), n * (n + 1) / 2);
}
END_TEST

static uint32_t the_same_stack(void *arg, unsigned int source, uint32_t process,
			       int64_t t, uint32_t raw)
{
	(void)arg;
	(void)source;
	(void)process;
	(void)t;
	return raw;
}

START_TEST(frames_have_their_names_whenever_their_rows_are_read)
{
	open_store(_i == 3, _i == 3);
	mkstore_fill("app");
	if (_i == 1)
		ok(store_again(run.mk, 0, 1, the_same_stack, NULL, &err));
	mkstore_name_all();
	if (_i == 2)
		ok(store_again(run.mk, 0, 1, the_same_stack, NULL, &err));
	mkstore_finish();
	mkstore_expect("SELECT * FROM frame", "1|1|4608|0|4198912|3|512||\n"
					      "2|1|4352|0|4198656|2|256||\n"
					      "3|1|4112|0|4198416|1|16||\n"
					      "4|2|32|0|||||\n5|2|16|0|||||\n");
	mkstore_expect("SELECT * FROM internal_label",
		       "1|main:\\x0a\\x1b\n2|loop;small_[i];tiny_[i]\n3|leaf\n"
		       "4|[kernel.kallsyms]_[k]\n5|[kernel.kallsyms]_[k]\n");
}
END_TEST

START_TEST(sums_need_no_events_but_those_that_asked)
{
	struct store_group sum = { .n = 0 };
	uint64_t symoff;

	struct record asks = { .kind = REC_SAMPLE };

	asks.sample.defer = DEFER_COOKIE;
	asks.sample.raw = "raw";
	asks.sample.raw_len = 3;
	open_store(true, false);
	store_sums_only(run.mk);
	user_image = mkstore_image(IMAGE_FILE, "/usr/bin/app");
	user_raw = mkstore_chain_of(user_image, user_off, 4, 0x400000);
	mkstore_event(0, 10, 0, user_raw, NULL);
	mkstore_event(0, 20, 0, 0, &asks);
	mkstore_request(2, REQ_CHAIN_LOST, 0, 0, 0);
	mkstore_event(0, 40, 0, user_raw, NULL);
	mkstore_name_all();
	mkstore_finish();
	mkstore_expect("SELECT id FROM event", "2\n");
	ok(store_groups_each(run.db, store_add_group, &sum, &err));
	ck_assert_int_eq(sum.n, 3);
	ck_assert_int_eq(sum.weight, 70);
	ck_assert_ptr_eq(store_sums_code(run.db), run.fr);
	ck_assert_str_eq(store_sums_name(run.db, 1, &symoff), "main;\n\x1b");
	ck_assert_uint_eq(symoff, frames_get_frame(run.fr, 1)->off - 0x1000);
	ck_assert_ptr_null(store_sums_name(run.db, 1000, &symoff));
	mkstore_expect("SELECT (SELECT count(*) FROM frame),"
		       "(SELECT count(*) FROM symbol),"
		       "(SELECT count(*) FROM stack),"
		       "(SELECT count(*) FROM raw_chain),"
		       "(SELECT count(*) FROM sample_group)",
		       "0|0|0|0|0\n");
	mkstore_expect("SELECT events FROM event_type WHERE id = 1", "3\n");
	mkstore_expect("SELECT (SELECT count(*) FROM stack_path),"
		       "(SELECT count(*) FROM internal_label)",
		       "0|0\n");
}
END_TEST

START_TEST(folded_has_every_half_and_every_weight)
{
	open_store(true, false);
	mkstore_fill("my;app");
	mkstore_name_all();
	mkstore_finish();
#define USER                                                                   \
	"main:\\x0a\\x1b;loop;small_[i];tiny_[i];"                             \
	"loop;small_[i];tiny_[i];leaf"
#define KERNEL "[kernel.kallsyms]_[k];[kernel.kallsyms]_[k]"
	mkstore_expect("SELECT capture,event,stack,weight FROM folded"
		       " ORDER BY weight",
		       "1|cpu-clock|my:app;" USER ";" KERNEL "|30\n"
		       "1|cpu-clock|my:app;[user: chain_lost];" KERNEL "|40\n"
		       "1|cpu-clock|my:app;[user: after exec];" USER ";" KERNEL
		       "|80\n"
		       "1|cpu-clock|my:app;" USER "|160\n"
		       "1|cpu-clock|my:app;[user: empty];" KERNEL "|320\n");
	mkstore_expect(
		"SELECT (SELECT sum(weight) FROM folded) ="
		" (SELECT sum(weight) FROM samples), (SELECT sum(total) FROM"
		" flame_tree WHERE depth = 0), (SELECT sum(self) FROM"
		" flame_tree)",
		"1|630|630\n");
	mkstore_expect("SELECT symbol,image,self,total FROM hot_functions"
		       " ORDER BY total, symbol",
		       "leaf|/usr/bin/app|160|270\nloop|/usr/bin/app|0|270\n"
		       "main;\n\x1b|/usr/bin/app|0|270\n"
		       "|[kernel.kallsyms]|470|470\n");
	mkstore_expect("SELECT depth,name,self,total FROM flame_tree"
		       " WHERE path LIKE 'my:app;[user: a%' AND depth IN (1,3)",
		       "1|[user: after exec]|0|80\n3|loop|0|80\n");
}
END_TEST

START_TEST(a_whole_stack_is_kernel_then_user)
{
	open_store(true, false);
	mkstore_fill("app");
	mkstore_name_all();
	mkstore_finish();
	mkstore_expect(
		"SELECT pos,half,symbol,symoff,off FROM full_stack"
		" WHERE event_id = 2 ORDER BY pos",
		"0|kernel|||0x10\n1|kernel|||0x20\n2|user|leaf|16|0x1010\n"
		"3|user|loop|256|0x1100\n4|user|loop|256|0x1100\n"
		"5|user|main;\n\x1b|512|0x1200\n");
	mkstore_expect(
		"SELECT pos,half,symbol FROM full_stack WHERE event_id = 3"
		" ORDER BY pos",
		"0|kernel|\n1|kernel|\n2|user|[user: chain_lost]\n");
	mkstore_expect(
		"SELECT pos,symbol,off,vaddr,build_id,kind FROM stack_frames"
		" WHERE stack = 4 ORDER BY pos LIMIT 1",
		"0|leaf|0x1010|0x401010|010203|file\n");
	mkstore_expect("SELECT image,kind,frames,status FROM unsymbolized",
		       "[kernel.kallsyms]|kernel|2|no file\n");
	mkstore_expect(
		"SELECT count(DISTINCT hash), sum(hash IS NULL) FROM stack",
		"2|4\n");
}
END_TEST

START_TEST(verdicts_add_up)
{
	open_store(true, false);
	mkstore_fill("app");
	mkstore_finish();
	mkstore_expect("SELECT * FROM verdicts ORDER BY 1, 2",
		       "chain|used|proved|2\nrequest|chain_lost|explained|1\n"
		       "request|empty|proved|1\n"
		       "request|matched|proved|2\n");
	mkstore_expect("SELECT kind,what,id,time_ns FROM causality_errors",
		       "request|chain_lost|3|1003\n");
	mkstore_expect(
		"SELECT event,comm,n,min_ns,avg_ns FROM deferral_latency",
		"cpu-clock|app|3|500|500\n");
}
END_TEST

/* More samples wait for their requests than are found without a search. */
START_TEST(requests_in_any_order_find_their_samples)
{
	const uint32_t n = 600;

	open_store(true, false);
	mkstore_fill("app");
	for (uint32_t i = 0; i < n; i++)
		mkstore_event(0, i, 0, 0, NULL);
	for (uint32_t i = n; i-- > 0;)
		mkstore_request(7 + i, i % 2 ? REQ_PENDING_END : REQ_REFUSED, 0,
				0, 0);
	mkstore_finish();
	mkstore_expect("SELECT mark, sum(n), sum(weight) FROM sample_group"
		       " WHERE mark IN (-4, -6) GROUP BY mark",
		       "-6|300|89700\n-4|300|90000\n");
}
END_TEST

START_TEST(what_does_not_add_up_is_refused)
{
	open_store(false, false);
	mkstore_fill("app");
	if (_i == 0)
		mkstore_request(7, REQ_MATCHED, 0, 0, 0); /* no such event */
	else if (_i == 1)
		mkstore_request(5, 99, 0, 0, 0); /* no such verdict */
	else
		deferred(3, CHAIN_USED, 0, 5); /* samples nobody has */
	ledger_end(run.lg);
	ck_assert_ptr_null(maker_finish(run.mk, run.lg, &err));
	run.mk = NULL;
	ck_assert_ptr_nonnull(strstr(err.msg, "does not add up"));
	ck_assert_int_eq(access(run.path, F_OK), -1);
}
END_TEST

START_TEST(ledger_entries_become_rows_by_kind)
{
	struct ledger_entry e = { .what = "lost",
				  .off = 64,
				  .t0 = 5,
				  .t1 = 9,
				  .n = 3,
				  .cpu = 2,
				  .event = 1 };

	open_store(true, false);
	e.kind = LEDGER_LOSS;
	ledger_add(run.lg, &e);
	e.kind = LEDGER_ORDER;
	e.what = "late";
	e.cpu = -1;
	ledger_add(run.lg, &e);
	e.kind = LEDGER_DAMAGE;
	e.what = "truncated";
	e.detail = "in the middle";
	ledger_add(run.lg, &e);
	ledger_skip(run.lg, 0, "record", 72, 128, NULL);
	mkstore_finish();
	mkstore_expect("SELECT capture,what,cpu,type,t0,t1,n,off FROM loss",
		       "1|lost|2|2|5|9|3|64\n");
	mkstore_expect("SELECT what,time_ns,by_ns,cpu,n FROM ordering",
		       "late|5|4||3\n");
	mkstore_expect("SELECT kind,what,off,n,detail FROM damage ORDER BY id",
		       "damage|truncated|64|3|in the middle\n"
		       "skipped|record|128|1|record 72\n");
	mkstore_expect("SELECT complete FROM capture", "0\n");
}
END_TEST

START_TEST(marks_switches_and_extras_are_kept)
{
	struct extra x[] = { { .name = "addr", .value = 5 },
			     { .name = "blob", .blob = "\0a", .len = 2 } };
	struct branch b[] = { { 1, 2, 3 } };
	struct record rec = { .kind = REC_SWITCH,
			      .flags = REC_F_OUT | REC_F_PREEMPT,
			      .sw = { 7, -1 } };

	open_store(true, false);
	mkstore_event(UINT32_MAX, 1, 0, 0, &rec);
	rec = (struct record){ .kind = REC_MARK };
	rec.mark.name = "throttle";
	rec.mark.extra = x;
	rec.mark.n_extra = 1;
	mkstore_event(UINT32_MAX, 1, 0, 0, &rec);
	rec = (struct record){ .kind = REC_SAMPLE };
	rec.sample.extra = x;
	rec.sample.n_extra = 2;
	rec.sample.branch = b;
	rec.sample.n_branch = 1;
	rec.sample.raw = "raw";
	rec.sample.raw_len = 3;
	mkstore_event(0, 1, 0, 0, &rec);
	mkstore_finish();
	mkstore_expect(
		"SELECT e.id,t.name,t.kind,e.weight FROM event e"
		" JOIN event_type t ON t.id = e.type",
		"1|switch|record|\n2|throttle|record|\n3|cpu-clock|sample|1\n");
	mkstore_expect(
		"SELECT event,name,quote(value) FROM sample_extra",
		"1|out|1\n1|preempt|1\n1|other_pid|7\n2|addr|5\n3|addr|5\n"
		"3|blob|X'0061'\n");
	mkstore_expect("SELECT * FROM branch", "3|0|1|2|3\n");
	mkstore_expect("SELECT e.id, CAST(data AS TEXT) FROM event e"
		       " JOIN payload p ON p.id = e.payload",
		       "3|raw\n");
	mkstore_expect("SELECT count(*) FROM samples", "1\n");
}
END_TEST

START_TEST(fields_become_columns_with_safe_names)
{
	struct field f[] = {
		{ .present = true, .num = -3 },
		{ .present = true, .num = 4 },
		{ .present = true, .num = 5 },
		{ .present = true, .text = "x" },
		{ .present = true, .blob = "\1\2", .len = 2 },
	};
	struct record rec = { .kind = REC_SAMPLE };

	rec.sample.raw = "raw";
	rec.sample.raw_len = 3;
	open_store(true, false);
	ck_assert(store_wants_fields(run.mk, &run.src, 1));
	ck_assert(!store_wants_fields(run.mk, &run.src, 0));
	ck_assert(!store_wants_fields(run.mk, &run.src, 99));
	for (int i = 0; i < 3000; i++) {
		mkstore_event(1, 1, 0, 0, &rec);
		ok(store_fields(run.mk, &run.src, 1, run.events, f, 5, &err));
	}
	mkstore_finish();
	mkstore_expect("SELECT fields FROM event_type WHERE id = 2",
		       "ev_sched_sched_switch\n");
	mkstore_expect("SELECT event_id,pid,pid_2,event_id_2,na_me,hex(data),"
		       "(SELECT count(*) FROM ev_sched_sched_switch)"
		       " FROM ev_sched_sched_switch LIMIT 1",
		       "1|-3|4|5|x|0102|3000\n");
	mkstore_expect("SELECT count(payload) FROM event", "0\n");
}
END_TEST

START_TEST(an_empty_list_leaves_what_texts_need)
{
	struct field_def stack = { .name = "stack", .is_stack = true };
	struct maker_opts o = { .fields = "", .temp_dir = run.dir };

	run.event[0].fields = &stack;
	run.event[0].n_fields = 1;
	run.event[2].fields = run.event[1].fields;
	run.event[2].n_fields = 1;
	run.event[2].adds_fields = true;
	run.src.n_events = 3;
	run.mk = maker_create_temp(&o, run.fr, &err);
	ck_assert_msg(run.mk != NULL, "%s", err.msg);
	ok(store_capture(run.mk, &run.src, &err));
	ck_assert(store_wants_fields(run.mk, &run.src, 0));
	ck_assert(!store_wants_fields(run.mk, &run.src, 1));
	ck_assert(store_wants_fields(run.mk, &run.src, 2));
}
END_TEST

START_TEST(events_that_appear_later_get_a_type)
{
	open_store(true, false);
	mkstore_event(0, 1, 0, 0, NULL);
	run.src.n_events = 3;
	mkstore_event(2, 1, 0, 0, NULL);
	run.event[2].name = "renamed";
	ok(store_capture(run.mk, &run.src, &err));
	mkstore_finish();
	mkstore_expect("SELECT t.id,t.name FROM event e JOIN event_type t"
		       " ON t.id = e.type",
		       "1|cpu-clock\n3|renamed\n");
}
END_TEST

START_TEST(weights_cannot_overflow_a_sum)
{
	open_store(true, false);
	mkstore_event(0, UINT64_MAX, 0, 0, NULL);
	for (int i = 0; i < 1100; i++)
		mkstore_event(0, (uint64_t)1 << 53, 0, 0, NULL);
	mkstore_finish();
	mkstore_expect("SELECT sum(weight) > 0, count(weight) FROM samples",
		       "1|1023\n");
	mkstore_expect("SELECT kind,what,n FROM damage", "note|weight|78\n");
	mkstore_expect("SELECT count(*) FROM folded", "1\n");
}
END_TEST

START_TEST(two_captures_share_one_database)
{
	struct event_def other = { .name = "cycles" };
	struct source src = { .ops = &ops,
			      .path = (char *)"b.data",
			      .index = 1,
			      .events = &other,
			      .n_events = 1 };
	struct fact f = { .kind = FACT_EVENT };

	open_store(true, false);
	ok(store_capture(run.mk, &src, &err));
	mkstore_event(0, 1, 0, 0, NULL);
	f.event = (struct fact_event){
		.id = 2, .time = 2000, .cpu = 0, .source = 1, .weight = 5
	};
	ok(store_fact(run.mk, &f, &err));
	ok(store_meta(run.mk, -1, "made", "now", &err));
	ok(store_meta(run.mk, 1, "x", "y", &err));
	mkstore_finish();
	mkstore_expect("SELECT capture,event,weight FROM samples",
		       "1|cpu-clock|1\n2|cycles|5\n");
	mkstore_expect("SELECT capture,event,stack FROM folded ORDER BY 1",
		       "1|cpu-clock|[unknown]\n2|cycles|[unknown]\n");
	mkstore_expect("SELECT * FROM meta", "0|made|now\n2|x|y\n");
}
END_TEST

START_TEST(a_named_query_is_cut_out_once)
{
	ck_assert_ptr_null(store_sql("nonsense"));
	ck_assert_ptr_eq(store_sql("raw_chain"), store_sql("raw_chain"));
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(every_fact_becomes_a_row, 2),
	RUN_TIMES(what_does_not_add_up_is_refused, 3),
	RUN_TIMES(mapped_code_is_told_each_once_or_read_from_rows, 3),
	RUN_TIMES(frames_have_their_names_whenever_their_rows_are_read, 4)
};

RUN_TABLES_WITH(
	"store", mkstore_set_up, tear_down, loops, recorded_addresses_come_back,
	groups_that_are_held_have_one_row, more_groups_than_are_held_add_up,
	samples_like_the_one_before_are_added_up,
	samples_are_added_up_by_name_and_stacks,
	sums_need_no_events_but_those_that_asked,
	sums_need_each_mapped_code_once, folded_has_every_half_and_every_weight,
	a_whole_stack_is_kernel_then_user, verdicts_add_up,
	requests_in_any_order_find_their_samples,
	ledger_entries_become_rows_by_kind, marks_switches_and_extras_are_kept,
	fields_become_columns_with_safe_names,
	an_empty_list_leaves_what_texts_need,
	events_that_appear_later_get_a_type, weights_cannot_overflow_a_sum,
	two_captures_share_one_database, a_named_query_is_cut_out_once)
