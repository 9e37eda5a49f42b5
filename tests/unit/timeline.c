/* timeline.c - the timeline picture shows everything, once, and is XML. */
#include "cli/pictures/timeline.h"

#include <ctype.h>

#include "cli/pictures/timeline_model.h"
#include "cli/pictures/timeline_svg.h"
#include "tests/unit/mkstore.h"
#include "tests/unit/run.h"

#define MS 1000000
#define T0 5000000000 /* of the small run: half a second from here */

/* ---- looking at a picture */

static unsigned int timeline_count(const char *text, const char *part)
{
	unsigned int n = 0;

	for (const char *s = text; (s = strstr(s, part)); s += strlen(part))
		n++;
	return n;
}

static void expect_part(const char *svg, const char *part)
{
	ck_assert_msg(strstr(svg, part) != NULL, "no '%s' in:\n%.1500s", part,
		      svg);
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == ':';
}

/* After '&': the length of one of the five entities or of a number, or 0. */
static size_t entity(const char *s)
{
	static const char *const known[] = { "lt;", "gt;", "amp;", "quot;",
					     "#39;" };

	for (size_t i = 0; i < 5; i++)
		if (!strncmp(s, known[i], strlen(known[i])))
			return strlen(known[i]);
	return 0;
}

static const char *past_text(const char *s, char end)
{
	while (*s != end) {
		must(*s && *s != '<' && (*s == '\n' || *s >= 0x20 || *s < 0));
		must(*s != '&' || entity(s + 1));
		s++;
	}
	return s;
}

/* s stands behind the name of an opening tag; gives what is behind it. */
static const char *past_attributes(const char *s, bool *empty)
{
	while (*s == ' ') {
		s++;
		while (is_name(*s))
			s++;
		must(s[0] == '=' && s[1] == '"');
		s = past_text(s + 2, '"') + 1;
	}
	*empty = *s == '/';
	s += *empty;
	must(*s == '>');
	return s + 1;
}

/* Tags are closed in the order they were opened, all text is escaped. */
static void timeline_expect_xml(const char *svg)
{
	char open[16][16];
	unsigned int depth = 0;
	const char *s = strstr(svg, "?>\n");

	must(!strncmp(svg, "<?xml ", 6) && s);
	s += 3;
	do {
		char name[16] = "";
		bool closing = s[1] == '/';
		bool empty = closing;
		size_t n = 0;

		must(*s == '<');
		s += 1 + closing;
		while (is_name(*s) && n < sizeof(name) - 1)
			name[n++] = *s++;
		must(n > 0);
		if (closing) {
			must(depth && !strcmp(open[--depth], name));
			must(*s++ == '>');
		} else {
			s = past_attributes(s, &empty);
		}
		if (!empty) {
			must(depth < 16);
			memcpy(open[depth++], name, sizeof(name));
		}
		while (depth && *s && *s != '<')
			s += *s == '&' ? 1 + entity(s + 1) : 1;
		if (depth)
			past_text(s, '<');
	} while (depth);
	ck_assert_str_eq(s, "\n");
}

/* ---- a small run */

static char *timeline_test_draw(const char *title)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	ok(timeline_write(out, run.db, title, &err));
	fclose(out);
	timeline_expect_xml(got);
	return got;
}

static uint64_t missing; /* cookies in all gaps */

static void timeline_start(const char *path, const char *comm)
{
	missing = 0;
	mkstore_set_up();
	run.src.path = (char *)path;
	run.src.info.cpus_online = 2;
	open_store(true, true);
	people(comm);
}

static void timeline_at(int64_t time, int32_t cpu, enum request_verdict v)
{
	struct fact f = { .kind = FACT_EVENT };

	f.event = (struct fact_event){ .id = ++run.events,
				       .time = time,
				       .cpu = cpu,
				       .thread = 1,
				       .comm = 1,
				       .weight = 1 };
	ok(store_fact(run.db, &f, &err));
	if (v)
		mkstore_request(run.events, v, 0, 0, 0);
}

static void timeline_lost(const char *what, bool counts, int32_t cpu,
			  int64_t t0, int64_t t1, uint64_t n)
{
	struct ledger_entry e = { .kind = LEDGER_LOSS,
				  .what = what,
				  .counts = counts,
				  .cpu = cpu,
				  .event = -1,
				  .t0 = (uint64_t)t0,
				  .t1 = (uint64_t)t1,
				  .n = n };

	ledger_add(run.lg, &e);
}

static void timeline_chain(uint32_t id, int64_t time, int32_t cpu,
			   enum chain_verdict v)
{
	struct fact f = { .kind = FACT_CHAIN };

	f.chain = (struct fact_chain){ .id = id,
				       .time = time,
				       .cpu = cpu,
				       .thread = 1,
				       .cookie = 9,
				       .verdict = v,
				       .confidence = CONF_EXPLAINED,
				       .quality = QUALITY_EMPTY,
				       .from = TIME_NONE,
				       .loss = v == CHAIN_SAMPLE_LOST };
	ok(store_fact(run.db, &f, &err));
}

static void timeline_gap(int32_t cpu, int64_t t0, int64_t t1, uint64_t n,
			 enum gap_verdict v)
{
	struct fact f = { .kind = FACT_GAP };

	f.gap = (struct fact_gap){
		.cpu = cpu, .first = 1, .n = n, .t0 = t0, .t1 = t1, .verdict = v
	};
	ok(store_fact(run.db, &f, &err));
	f.kind = FACT_COUNTER;
	f.counter = (struct fact_counter){ .cpu = cpu, .missing = n };
	ok(store_fact(run.db, &f, &err));
	missing += n;
}

static void timeline_end(void)
{
	struct fact f = { .kind = FACT_SESSION };

	f.session =
		(struct fact_session){ .layout = "kernel", .missing = missing };
	ok(store_fact(run.db, &f, &err));
	mkstore_finish();
}

static void finding(int64_t time, int32_t cpu)
{
	struct fact f = { .kind = FACT_FINDING };

	f.finding = (struct fact_finding){
		.time = time, .since = TIME_NONE, .cpu = cpu, .n = 1
	};
	ok(store_fact(run.db, &f, &err));
}

/* From T0 on, half a second: a column is half a millisecond. */
static void timeline_small(const char *path, const char *comm)
{
	timeline_start(path, comm);
	timeline_at(T0, 0, 0);
	timeline_at(T0 + 100 * MS, 0, REQ_CHAIN_LOST);
	timeline_at(T0 + 100 * MS + 10, 0,
		    REQ_CHAIN_LOST); /* the same column */
	timeline_at(T0 + 200 * MS, 1, REQ_PENDING_END);
	timeline_at(T0 + 300 * MS, 1, REQ_UNEXPLAINED);
	timeline_at(T0 + 400 * MS, -1, REQ_STRIPPED);
	timeline_at(T0 + 500 * MS, 1, REQ_REFUSED);
	timeline_chain(1, T0 + 250 * MS, 0, CHAIN_SAMPLE_LOST);
	timeline_chain(2, T0 + 260 * MS, 0, CHAIN_DUPLICATE);
	timeline_lost("lost", true, 0, T0 + 90 * MS, T0 + 110 * MS, 1000);
	timeline_lost("lost", true, 0, T0 + 110 * MS, T0 + 120 * MS, 234);
	timeline_lost("lost_end", true, 1, T0 + 450 * MS, 0, 5);
	timeline_lost("overwritten", false, 1, 0, T0 + 50 * MS, 0);
	timeline_lost("throttled", false, 1, T0 + 10 * MS, T0 + 20 * MS, 0);
	timeline_lost("damage", false, -1, T0 + 5 * MS, T0 + 6 * MS, 7);
	timeline_lost("lost_total", false, 0, 0, 0, 1300);
	timeline_lost("lost_total", false, 1, 0, 0, 9);
	timeline_gap(0, T0 + 91 * MS, T0 + 92 * MS, 3, GAP_LOST);
	timeline_gap(1, T0 + 210 * MS, T0 + 220 * MS, 1, GAP_UNCOUNTED);
	finding(T0 + 333 * MS, 1);
	timeline_end();
}

START_TEST(every_loss_is_a_band_with_its_place_and_number)
{
	timeline_small("perf.data", "app");
	char *svg = timeline_test_draw(NULL);

	ck_assert_uint_eq(timeline_count(svg, "<rect class=\"lost\" x="),
			  3 + 1);
	expect_part(svg,
		    "<rect class=\"lost\" x=\"180.0\" y=\"0\" width=\"40.0\"");
	expect_part(svg,
		    "<rect class=\"lost\" x=\"220.0\" y=\"0\" width=\"20.0\"");
	expect_part(svg, "<title>lost, CPU 0: 1,000 records\nrecords dropped: "
			 "the ring was full\nfrom 90.000 ms to 110.000 ms "
			 "(20.000 ms)\nfrom 5.090000000 to 5.110000000<");
	/* from there to the end, and from the beginning to there */
	expect_part(svg, "<rect class=\"lost\" x=\"900.0\" y=\"0\" "
			 "width=\"100.0\"");
	expect_part(svg, "<title>lost_end, CPU 1: 5 records");
	expect_part(svg, "\nits end is not known");
	expect_part(svg, "<rect class=\"overwritten\" x=\"0.0\" y=\"0\" "
			 "width=\"100.0\"");
	expect_part(svg, "overwritten, CPU 1: nobody knows how many records");
	expect_part(svg, "\nits beginning is not known");
	expect_part(svg, "<title>throttled, CPU 1: ");
	expect_part(svg, "<title>damage, no CPU: 7 records");
	expect_part(svg, "lost_total: 1,309 records");
	expect_part(svg, "CPU 0: 1,300 records\nCPU 1: 9 records</title>");
	/* the recorder's own count is not added */
	expect_part(svg, ">1,239 records lost in 3 intervals; ");
	expect_part(svg, ">lost: 1,239 records in 3 intervals<");
	free(svg);
	tear_down();
}
END_TEST

START_TEST(every_request_without_a_chain_is_a_mark_of_its_verdict)
{
	timeline_small("perf.data", "app");
	char *svg = timeline_test_draw(NULL);

	/* two in one column are one mark that says so */
	ck_assert_uint_eq(
		timeline_count(svg, "<title>2 x chain_lost, CPU 0\n"
				    "from 100.000 ms to 100.000 ms (10 ns)\n"
				    "from 5.100000000 to 5.100000010\n"
				    "first: app, tid 43<"),
		1);
	ck_assert_uint_eq(timeline_count(svg, "<path d=\"M200 "), 1);
	ck_assert_uint_eq(
		timeline_count(svg, "<title>pending_end, CPU 1\nat "
				    "200.000 ms (5.200000000)\napp, tid 43<"),
		1);
	ck_assert_uint_eq(timeline_count(svg, "<title>unexplained, CPU 1\n"),
			  1);
	ck_assert_uint_eq(timeline_count(svg, "<title>stripped, no CPU\n"), 1);
	/* chains are hollow; who was answered at once is no mark */
	ck_assert_uint_eq(timeline_count(svg, "<g class=\"m red hollow\">"), 1);
	ck_assert_uint_eq(
		timeline_count(svg, "<title>chain: sample_lost, CPU 0\n"), 1);
	ck_assert_uint_eq(
		timeline_count(svg, "<title>chain: duplicate, CPU 0\n"), 1);
	ck_assert_uint_eq(timeline_count(svg, "refused"), 0);
	expect_part(svg, "; 6 requests of deferred user stacks: 0 joined, 5 "
			 "not, 1 answered at once<");
	expect_part(svg, ">chain_lost: 2<");
	expect_part(svg, ">stripped: 1<");
	ck_assert_uint_eq(
		timeline_count(svg, "<g class=\"key\"><title>request whose "
				    "chain was lost"),
		1);
	free(svg);
	tear_down();
}
END_TEST

START_TEST(gaps_and_findings_are_in_their_lane)
{
	timeline_small("perf.data", "app");
	char *svg = timeline_test_draw(NULL);

	expect_part(svg, "<rect class=\"gap0\" x=\"182.0\"");
	expect_part(svg, "<title>missing cookies: lost, CPU 0: 3 cookies\n");
	expect_part(svg, "<rect class=\"gap1\" x=\"420.0\"");
	expect_part(svg, ">missing cookies: uncounted: 1 cookie in 1 "
			 "interval<");
	ck_assert_uint_eq(timeline_count(svg, "<title>finding"), 1);
	expect_part(svg, ">finding: 1<");
	expect_part(svg, "<title>CPU 0: 3 events\n1,234 records lost in 2 "
			 "intervals\n2 requests not joined, 2 chains without a "
			 "sample\n3 missing cookies, 0 findings</title>");
	free(svg);
	tear_down();
}
END_TEST

START_TEST(the_axis_has_round_times_and_lanes_have_names)
{
	timeline_small("/some/where/perf.data", "app");
	char *svg = timeline_test_draw(NULL);

	expect_part(svg, ">Losses over time in perf.data<");
	expect_part(svg, ">0 ms</text>");
	expect_part(svg, ">350 ms</text>");
	ck_assert_uint_eq(timeline_count(svg, "class=\"grid\""), 11);
	expect_part(svg, "500.000 ms from 5.000000000");
	ck_assert_uint_eq(timeline_count(svg, ">CPU 0</text>"), 1);
	ck_assert_uint_eq(timeline_count(svg, ">CPU 1</text>"), 1);
	ck_assert_uint_eq(timeline_count(svg, ">no CPU</text>"), 1);
	ck_assert_uint_eq(timeline_count(svg, "<rect class=\"lane\""), 3);
	/* nothing is fetched */
	ck_assert_uint_eq(timeline_count(svg, "://"),
			  timeline_count(svg, "http://www.w3.org/"));
	free(svg);
	tear_down();
}
END_TEST

START_TEST(a_cpu_on_which_nothing_happened_has_a_lane)
{
	timeline_start("perf.data", "app");
	timeline_at(T0, 0, 0);
	timeline_at(T0 + MS, 0, 0);
	timeline_end();
	char *svg = timeline_test_draw("Mine");

	expect_part(svg, "<title>CPU 1: 0 events\n");
	expect_part(svg, "font-size=\"17\">Mine</text>");
	expect_part(svg, ">no record was lost; no deferred user stacks were "
			 "asked for<");
	free(svg);
	tear_down();
}
END_TEST

START_TEST(names_from_a_capture_never_become_markup)
{
	timeline_start("/x/<a>&\"'.data", "</title>&<b>");
	timeline_lost("<w&h>", false, 0, T0, T0 + MS, 1);
	timeline_lost("<u&v>", false, 0, 0, 0, 1);
	timeline_at(T0, 0, 0);
	timeline_at(T0 + MS, 0, REQ_CHAIN_LOST);
	timeline_end();
	char *svg = timeline_test_draw(NULL);
	char *titled = timeline_test_draw("]]><script>&");

	expect_part(svg, "in &lt;a&gt;&amp;&quot;&#39;.data<");
	expect_part(svg, "&lt;/title&gt;&amp;&lt;b&gt;, tid 43<");
	expect_part(svg, "<title>&lt;w&amp;h&gt;, CPU 0: 1 record\n");
	expect_part(svg, ">&lt;u&amp;v&gt;: 1 record<");
	expect_part(titled, "]]&gt;&lt;script&gt;&amp;<");
	free(svg);
	free(titled);
	tear_down();
}
END_TEST

START_TEST(the_same_database_gives_the_same_bytes)
{
	timeline_small("perf.data", "app");
	char *one = timeline_test_draw(NULL);
	char *two = timeline_test_draw(NULL);

	ck_assert_str_eq(one, two);
	free(one);
	free(two);
	tear_down();
}
END_TEST

START_TEST(a_capture_without_times_is_refused)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	timeline_start("untimed.data", "app");
	timeline_at(TIME_NONE, 0, 0);
	timeline_end();
	ck_assert_int_eq(timeline_write(out, run.db, NULL, &err), -1);
	ck_assert_msg(strstr(err.msg, "untimed.data: has no times"), "%s",
		      err.msg);
	fclose(out);
	ck_assert_uint_eq(len, 0);
	free(got);
	tear_down();
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	FILE *out = fopen("/dev/full", "we");

	ck_assert_ptr_nonnull(out);
	timeline_small("perf.data", "app");
	ck_assert_int_eq(timeline_write(out, run.db, NULL, &err), -1);
	ck_assert_msg(strstr(err.msg, "cannot write the picture"), "%s",
		      err.msg);
	fclose(out);
	tear_down();
}
END_TEST

START_TEST(what_has_no_time_is_counted_below)
{
	timeline_start("perf.data", "app");
	timeline_at(TIME_NONE, 0, REQ_UNJOINABLE);
	timeline_at(T0, 0, 0);
	timeline_at(T0 + MS, 0, 0);
	timeline_end();
	char *svg = timeline_test_draw(NULL);

	expect_part(svg, ">unjoinable: 1<");
	/* the event and its mark */
	expect_part(svg, ">2 without a time are not drawn<");
	free(svg);
	tear_down();
}
END_TEST

/* ---- the model alone, at its limits */

static uint64_t seed;

static uint64_t any(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* Not a local: gcc 12 takes what open_memstream() fills for its address. */
static char *drawn;

static char *draw_model(const struct timeline *tl, size_t *len)
{
	FILE *out = open_memstream(&drawn, len);

	timeline_draw(out, tl, "T");
	fclose(out);
	timeline_expect_xml(drawn);
	return drawn;
}

static void fill_any(struct timeline *tl, uint64_t cpus, uint64_t n,
		     uint64_t kinds)
{
	for (uint64_t i = 0; i < n; i++) {
		int64_t t = (int64_t)any(1000000);
		struct timeline_mark m = {
			.kind = any(kinds), .n = 1 + any(3), .t0 = t, .t1 = t
		};
		struct timeline_band b = {
			.kind = any(BAND_KINDS),
			.t0 = t,
			.t1 = t + (int64_t)(any(50) * any(50) * any(50)),
			.n = any(9),
			.what = any(2) ? "a" : "b",
		};

		timeline_event(tl, 1, (int64_t)any(cpus), t);
		timeline_mark(tl, 1, (int64_t)any(cpus), &m);
		if (i % 8 == 0)
			timeline_band(tl, 1, (int64_t)any(cpus), &b, true);
	}
}

/* Sums stay what they were, places are sorted, in the picture, and apart. */
static void expect_whole(const struct timeline *tl)
{
	uint64_t n[MARK_KINDS] = { 0 };
	uint64_t rows[BAND_KINDS] = { 0 };
	uint64_t sum[BAND_KINDS] = { 0 };

	for (size_t i = 0; i < tl->n_mark; i++) {
		const struct timeline_mark *m = &tl->mark[i];

		n[m->kind] += m->n;
		must(m->lane < tl->n_lane && m->column < TIMELINE_COLUMNS);
		must(m->t0 <= m->t1);
		if (!i || m[-1].lane != m->lane || m[-1].kind != m->kind)
			continue;
		must(m[-1].column / tl->marks.bin < m->column / tl->marks.bin);
	}
	for (size_t i = 0; i < tl->n_band; i++) {
		const struct timeline_band *b = &tl->band[i];

		rows[b->kind] += b->rows;
		sum[b->kind] += b->n;
		must(b->lane < tl->n_lane);
		must(tl->t0 <= b->t0 && b->t0 <= b->t1 && b->t1 <= tl->t1);
		if (i && b[-1].lane == b->lane && b[-1].kind == b->kind)
			must(b[-1].t1 <= b->t0);
	}
	must(!memcmp(n, tl->n, sizeof(n)));
	must(!memcmp(rows, tl->rows, sizeof(rows)));
	must(!memcmp(sum, tl->sum, sizeof(sum)));
}

START_TEST(nothing_gets_lost_between_adding_and_drawing)
{
	for (seed = 1; seed < 200;) {
		uint64_t next = seed + 1;
		struct timeline tl = { .t1 = 999999 };
		size_t len;

		fill_any(&tl, 1 + seed % 7, 20 * seed, MARK_KINDS);
		timeline_finish(&tl);
		expect_whole(&tl);
		free(draw_model(&tl, &len));
		timeline_release(&tl);
		seed = next;
	}
}
END_TEST

START_TEST(a_large_capture_makes_a_small_file)
{
	static const struct {
		uint64_t cpus, n, kinds;
		bool plain;
	} size[] = { { 1, 300000, 3, false },
		     { 8, 300000, MARK_KINDS, true },
		     { 8, 1500, 3, false },
		     { 64, 300000, 3, true },
		     { 256, 300000, 2, true } };

	for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++) {
		struct timeline tl = { .t1 = 999999 };
		unsigned long height;
		size_t len;

		seed = 1;
		fill_any(&tl, size[i].cpus, size[i].n, size[i].kinds);
		timeline_finish(&tl);
		expect_whole(&tl);
		ck_assert_int_eq(tl.marks.plain, size[i].plain);
		char *svg = draw_model(&tl, &len);

		ck_assert_uint_eq(timeline_count(svg, "<rect class=\"lane\""),
				  size[i].cpus);
		ck_assert_uint_lt(len, 1000000);
		height = strtoul(strstr(svg, "height=") + 8, NULL, 10);
		ck_assert_uint_gt(height, 100);
		ck_assert_uint_lt(height, 1700);
		free(svg);
		timeline_release(&tl);
	}
}
END_TEST

START_TEST(the_worst_of_a_column_is_on_top_where_lanes_are_thin)
{
	struct timeline tl = { .t1 = 999999 };
	size_t len;

	for (int64_t cpu = 0; cpu < 200; cpu++)
		for (int64_t t = 0; t < 1000000; t += 10000) {
			struct timeline_mark m = {
				.kind = MARK_DUPLICATE, .n = 1, .t0 = t, .t1 = t
			};

			timeline_mark(&tl, 1, cpu, &m);
			if (cpu != 7 || t != 500000)
				continue;
			m.kind = MARK_UNEXPLAINED;
			timeline_mark(&tl, 1, cpu, &m);
		}
	timeline_finish(&tl);
	ck_assert(tl.marks.plain);
	char *svg = draw_model(&tl, &len);

	ck_assert_uint_eq(timeline_count(svg, "<path class=\"brown flat\""),
			  200);
	ck_assert_uint_eq(
		timeline_count(svg, "<path class=\"black flat\" d=\"M496 "), 1);
	free(svg);
	timeline_release(&tl);
}
END_TEST

START_TEST(more_cpus_than_lanes_are_said)
{
	struct timeline tl = { .t1 = 10 };
	struct timeline_untimed u = { .what = "x", .cpu = 5000, .n = 1 };
	size_t len;

	for (int64_t cpu = 0; cpu < TIMELINE_LANES + 3; cpu++)
		timeline_event(&tl, 1, cpu, 5);
	timeline_event(&tl, 1, INT64_MAX, 5); /* no number of a CPU */
	timeline_untimed(&tl, &u);
	timeline_finish(&tl);
	ck_assert_uint_eq(tl.n_lane, TIMELINE_LANES);
	ck_assert_uint_eq(tl.events, TIMELINE_LANES + 4);
	char *svg = draw_model(&tl, &len);

	expect_part(svg, ">4 of more CPUs or kinds than can be drawn<");
	free(svg);
	timeline_release(&tl);
}
END_TEST

START_TEST(times_and_numbers_at_the_ends_of_64_bits_are_drawn)
{
	static const int64_t t[] = { INT64_MIN, -1, 0, 1, INT64_MAX };

	for (size_t i = 0; i < 4; i++) {
		struct timeline tl = { .t0 = t[i], .t1 = t[i + 1] };
		size_t len;

		for (size_t k = 0; k < 25; k++) {
			struct timeline_mark m = { .kind = MARK_CHAIN_LOST,
						   .n = UINT64_MAX,
						   .t0 = t[k % 5],
						   .t1 = t[k % 5] };
			struct timeline_band b = { .kind = BAND_LOST,
						   .n = UINT64_MAX,
						   .t0 = t[k % 5],
						   .t1 = t[k / 5] };

			timeline_event(&tl, t[k / 5], t[k % 5], t[k % 5]);
			timeline_mark(&tl, t[k / 5], t[k % 5], &m);
			timeline_band(&tl, t[k / 5], t[k % 5], &b, true);
		}
		timeline_finish(&tl);
		ck_assert_uint_eq(tl.lost, UINT64_MAX);
		char *svg = draw_model(&tl, &len);

		expect_part(svg, "18,446,744,073,709,551,615 x chain_lost");
		free(svg);
		timeline_release(&tl);
	}
}
END_TEST

RUN("timeline", every_loss_is_a_band_with_its_place_and_number,
    every_request_without_a_chain_is_a_mark_of_its_verdict,
    gaps_and_findings_are_in_their_lane,
    the_axis_has_round_times_and_lanes_have_names,
    a_cpu_on_which_nothing_happened_has_a_lane,
    names_from_a_capture_never_become_markup,
    the_same_database_gives_the_same_bytes, a_capture_without_times_is_refused,
    a_full_disk_is_an_error, what_has_no_time_is_counted_below,
    nothing_gets_lost_between_adding_and_drawing,
    a_large_capture_makes_a_small_file,
    the_worst_of_a_column_is_on_top_where_lanes_are_thin,
    more_cpus_than_lanes_are_said,
    times_and_numbers_at_the_ends_of_64_bits_are_drawn)
