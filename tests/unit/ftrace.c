/* ftrace.c - trace.dat files: pages, stacks, losses, names, sections. */
#include "stitch/tasks/late_maps.h"
#include "stitch/fact.h"
#include "tests/unit/ftrace_build.h"

/* A file with these rings, read to its end. */
static const char *ftrace_text_of(struct fb_ring *ring, size_t n, bool big,
				  bool zstd)
{
	static char text[65536];
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct pb b;

	fb_file7(&b, big, zstd, NULL, ring, n);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_msg(src != NULL, "%s", err.msg);
	snprintf(text, sizeof(text), "%s", fb_read(src));
	ledger_end(lg);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	pb_close(src, &b);
	ledger_free(lg);
	fb_rings_free(ring, n);
	return text;
}

/* All kinds of entries: short and long lengths, a time extension, an absolute
 * stamp, a discarded one, padding to the end. */
static void all_kinds(struct fb_ring *r)
{
	fb_page(r, 1000);
	fb_plain(r, 0, 50, 1);
	fb_word(r, 4, 5); /* 16 bytes of payload */
	pb_u16(&r->p, FB_PLAIN);
	pb_u16(&r->p, 0);
	pb_u32(&r->p, 50);
	pb_u64(&r->p, 2);
	fb_word(r, 30, 3); /* (1 << 27) + 3 later */
	pb_u32(&r->p, 1);
	fb_plain(r, 1, 50, 3);
	fb_word(r, 29, 10); /* discarded */
	pb_u32(&r->p, 12);
	pb_u64(&r->p, 0);
	fb_plain(r, 1, 50, 4);
	fb_word(r, 31, 7); /* now it is (2 << 27) + 7 */
	pb_u32(&r->p, 2);
	fb_plain(r, 0, 50, 5);
	fb_word(r, 29, 0);
	pb_u32(&r->p, 1); /* not looked at any more */
	fb_page_end(r, 0, 0);
}

static const char all_kinds_text[] =
	"1000 mine:plain@50/3 k0 u0; 1005 mine:plain@50/3 k0 u0; "
	"134218737 mine:plain@50/3 k0 u0; 134218748 mine:plain@50/3 k0 u0; "
	"268435463 mine:plain@50/3 k0 u0; ";

START_TEST(every_kind_of_entry_is_understood)
{
	struct fb_ring r;

	for (int i = 0; i < 4; i++) {
		fb_ring(&r, 3, i & 1);
		all_kinds(&r);
		ck_assert_str_eq(ftrace_text_of(&r, 1, i & 1, i & 2),
				 all_kinds_text);
	}
}
END_TEST

START_TEST(version_6_says_the_same)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r[4];
	struct pb b;

	for (int i = 0; i < 4; i++)
		fb_ring(&r[i], i, true);
	all_kinds(&r[3]);
	fb_file6(&b, true, r, 4);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_msg(src != NULL, "%s", err.msg);
	ck_assert_str_eq(src->info.host, "box");
	ck_assert_str_eq(src->info.release, "6.1");
	ck_assert_str_eq(fb_read(src), all_kinds_text);
	pb_close(src, &b);
	fb_rings_free(r, 4);
	ledger_free(lg);
}
END_TEST

START_TEST(cpus_are_merged_by_time)
{
	struct fb_ring r[2];

	fb_ring(&r[0], 0, false);
	fb_page(&r[0], 100);
	fb_plain(&r[0], 0, 50, 1);
	fb_plain(&r[0], 20, 50, 1);
	fb_page_end(&r[0], 0, 0);
	fb_ring(&r[1], 1, false);
	fb_page(&r[1], 110);
	fb_plain(&r[1], 0, 51, 1);
	fb_plain(&r[1], 20, 51, 1);
	fb_page_end(&r[1], 0, 0);
	ck_assert_str_eq(ftrace_text_of(r, 2, false, true),
			 "100 mine:plain@50/0 k0 u0; "
			 "110 mine:plain@51/1 k0 u0; "
			 "120 mine:plain@50/0 k0 u0; "
			 "130 mine:plain@51/1 k0 u0; ");
}
END_TEST

START_TEST(stacks_of_trace_dat_belong_to_the_event_before)
{
	struct fb_ring r;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_plain(&r, 0, 50, 1);
	fb_stack(&r, FB_KSTACK, 0, 50, 2, 0xffffffff81000010u, 2);
	fb_stack(&r, FB_USTACK, 0, 50, 50, 0x1000, 8);
	fb_page_end(&r, 0, 0);
	/* also across pages; another task's event may stand between */
	fb_page(&r, 200);
	fb_plain(&r, 0, 50, 1);
	fb_plain(&r, 1, 51, 1);
	fb_page_end(&r, 0, 0);
	fb_page(&r, 300);
	fb_stack(&r, FB_KSTACK, 0, 50, 1, 0xffffffff81000010u, 1);
	fb_page_end(&r, 0, 0);
	ck_assert_str_eq(ftrace_text_of(&r, 1, false, true),
			 "100 mine:plain@50/0 k2 u8; "
			 "200 mine:plain@50/0 k1 u0; "
			 "201 mine:plain@51/0 k0 u0; ");
}
END_TEST

/* n addresses, behind how many there are. */
static void ftrace_held(struct fb_ring *r, uint64_t n)
{
	size_t at = fb_begin(r, 1, FB_HELD, 0, 50);

	pb_u32(&r->p, (uint32_t)(n + 1) * 8 << 16 | 16);
	pb_u32(&r->p, 0);
	pb_u64(&r->p, n);
	for (uint64_t i = 0; i < n; i++)
		pb_u64(&r->p, 0xffffffff81000010u + i);
	fb_end(r, at);
}

START_TEST(a_stack_in_a_field_is_its_events_where_that_has_none)
{
	struct fb_ring r[2];

	for (int i = 0; i < 2; i++) {
		fb_ring(&r[i], i, i);
		fb_page(&r[i], (uint64_t)i * 100);
		ftrace_held(&r[i], 3);
		ftrace_held(&r[i], 3);
		fb_stack(&r[i], FB_KSTACK, 0, 50, 1, 0xffffffff81000010u, 1);
		ftrace_held(&r[i], 0);
		fb_page_end(&r[i], 0, 0);
		ck_assert_str_eq(ftrace_text_of(&r[i], 1, i, false),
				 i ? "101 mine:held@50/1 k3 u0; "
				     "102 mine:held@50/1 k1 u0; "
				     "104 mine:held@50/1 k0 u0; "
				   : "1 mine:held@50/0 k3 u0; "
				     "2 mine:held@50/0 k1 u0; "
				     "4 mine:held@50/0 k0 u0; ");
	}
}
END_TEST

/* The first and the last address of the kernel, and that of the field. */
static void ftrace_check_addrs(const struct record *rec, uint64_t first,
			       uint64_t last)
{
	const struct rec_sample *s = &rec->sample;

	ck_assert_uint_eq(s->kern.ip[0], first);
	ck_assert_uint_eq(s->kern.ip[s->kern.n - 1], last);
	if (s->n_held)
		ck_assert_uint_eq(s->held[0].ip[0], 0xffffffff81000010u);
}

START_TEST(records_stay_in_the_arena_of_the_caller)
{
	struct ledger *lg = ledger_new();
	struct arena arena = { .used = 0 };
	struct err err = { 0 };
	struct record rec[16];
	char text[1024] = "";
	struct fb_ring r;
	struct ref ref;
	struct pb b;
	size_t n = 0, at = 0;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_plain(&r, 0, 50, 1);
	fb_stack(&r, FB_KSTACK, 0, 50, 2, 0xffffffff81000100u, 2);
	ftrace_held(&r, 3);
	fb_switch(&r, 1, "one", 50, 0, "two", 51);
	fb_plain(&r, 1, 51, 1);
	fb_stack(&r, FB_USTACK, 0, 51, 51, 0x1000, 3);
	fb_stack(&r, FB_KSTACK, 0, 51, 1, 0xffffffff81000200u, 1);
	fb_page_end(&r, 0, 0);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	src->arena = &arena;
	while (n < 16 && src->ops->next(src, &ref, &err) > 0)
		ck_assert_int_eq(src->ops->decode(src, &ref, &rec[n++], &err),
				 0);
	for (size_t i = 0; i < n; i++) {
		fb_say(src, &rec[i], text, sizeof(text));
		if (rec[i].kind != REC_SAMPLE || !rec[i].sample.kern.n)
			continue;
		ftrace_check_addrs(
			&rec[i],
			(uint64_t[]){ 0xffffffff81000100u, 0xffffffff81000010u,
				      0xffffffff81000200u }[at],
			(uint64_t[]){ 0xffffffff81000110u, 0xffffffff81000012u,
				      0xffffffff81000200u }[at]);
		at++;
	}
	ck_assert_str_eq(text, "100 mine:plain@50/0 k2 u0; "
			       "102 mine:held@50/0 k3 u0; "
			       "103 comm=one@50; 103 comm=two@51; "
			       "103 sched:sched_switch@50/0 k0 u0; "
			       "104 mine:plain@51/0 k1 u3; ");
	ck_assert_uint_eq(at, 3);
	arena_release(&arena);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(a_stack_goes_around_an_interrupt)
{
	struct fb_ring r;
	size_t at;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_plain(&r, 0, 50, 1);
	at = fb_begin(&r, 1, FB_PLAIN, 8, 50); /* hardirq */
	pb_u64(&r.p, 1);
	fb_end(&r, at);
	fb_stack(&r, FB_KSTACK, 8, 50, 1, 0xffffffff81000010u, 1);
	fb_stack(&r, FB_KSTACK, 0, 50, 3, 0xffffffff81000010u, 3);
	fb_page_end(&r, 0, 0);
	ck_assert_str_eq(ftrace_text_of(&r, 1, false, false),
			 "100 mine:plain@50/0 k3 u0; "
			 "101 mine:plain@50/0 k1 u0; ");
}
END_TEST

START_TEST(a_stack_without_an_owner_is_an_event)
{
	struct fb_ring r;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_stack(&r, FB_KSTACK, 0, 50, 1, 0xffffffff81000010u, 1);
	fb_plain(&r, 1, 50, 1);
	fb_stack(&r, FB_KSTACK, 0, 50, 1, 0xffffffff81000010u, 1);
	fb_stack(&r, FB_KSTACK, 0, 50, 1, 0xffffffff81000010u, 1);
	fb_stack(&r, FB_USTACK, 0, 50, 50, 0x1000, 1);
	fb_page_end(&r, 0, 0);
	ck_assert_str_eq(ftrace_text_of(&r, 1, false, false),
			 "101 ftrace:kernel_stack@50/0 k1 u0; "
			 "102 mine:plain@50/0 k1 u0; "
			 "104 ftrace:kernel_stack@50/0 k1 u0; "
			 "105 ftrace:user_stack@50/0 k0 u1; ");
}
END_TEST

START_TEST(lost_entries_are_marked_and_part_stacks)
{
	struct fb_ring r;

	fb_ring(&r, 2, false);
	fb_page(&r, 100);
	fb_plain(&r, 0, 50, 1);
	fb_page_end(&r, 0, 0);
	fb_page(&r, 200);
	fb_stack(&r, FB_KSTACK, 0, 50, 1, 0xffffffff81000010u, 1);
	fb_page_end(&r, FB_LOST | FB_STORED, 17);
	fb_page(&r, 300);
	fb_plain(&r, 0, 50, 1);
	fb_page_end(&r, FB_LOST, 0);
	ck_assert_str_eq(ftrace_text_of(&r, 1, false, true),
			 "100 mine:plain@50/2 k0 u0; 201 lost 17/2; "
			 "201 ftrace:kernel_stack@50/2 k1 u0; 300 lost 0/2; "
			 "300 mine:plain@50/2 k0 u0; ");
}
END_TEST

START_TEST(time_that_goes_back_is_noted)
{
	struct ledger *lg = ledger_new();
	struct ledger_entry e;
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;
	int regress = 0;

	fb_ring(&r, 0, false);
	fb_page(&r, 500);
	fb_plain(&r, 0, 50, 1);
	fb_page_end(&r, 0, 0);
	fb_page(&r, 400);
	fb_plain(&r, 0, 50, 2);
	fb_page_end(&r, 0, 0);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);
	struct ref ref = { 0 };
	uint64_t keys = 0;

	while (src->ops->next(src, &ref, &err) > 0)
		keys += ref.untimed ? 0 : ref.key;
	ck_assert_uint_eq(keys, 900);
	while (ledger_take(lg, &e))
		regress += e.kind == LEDGER_ORDER &&
			   !strcmp(e.what, "regress") && e.t0 == 400 &&
			   e.t1 == 500;
	ck_assert_int_eq(regress, 1);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(names_come_from_switches_and_then_from_saved_ones)
{
	struct fb_ring r;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_switch(&r, 0, "old", 7, 1, "b", 9);
	fb_switch(&r, 1, "b", 9, 256, "old", 7);
	fb_plain(&r, 1, 8, 1); /* in saved_cmdlines */
	fb_switch(&r, 1, "new", 7, 0, "swapper/0", 0);
	fb_switch(&r, 1, "swapper/0", 0, 0, "", 7);
	fb_page_end(&r, 0, 0);
	ck_assert_str_eq(ftrace_text_of(&r, 1, false, false),
			 "100 comm=old@7; 100 comm=b@9; "
			 "100 sched:sched_switch@7/0 k0 u0; "
			 "101 sched:sched_switch@9/0 k0 u0; "
			 "102 comm=eight@8; 102 mine:plain@8/0 k0 u0; "
			 "103 comm=new@7; 103 sched:sched_switch@7/0 k0 u0; "
			 "104 comm=@7; 104 sched:sched_switch@0/0 k0 u0; ");
}
END_TEST

static void fork_event(struct fb_ring *r, int32_t parent, int32_t child)
{
	size_t at = fb_begin(r, 1, FB_FORK, 0, parent);

	fb_comm(&r->p, "p");
	pb_u32(&r->p, (uint32_t)parent);
	fb_comm(&r->p, "p");
	pb_u32(&r->p, (uint32_t)child);
	fb_end(r, at);
}

static void newtask(struct fb_ring *r, int32_t parent, int32_t child,
		    uint64_t flags)
{
	size_t at = fb_begin(r, 1, FB_NEWTASK, 0, parent);

	pb_u32(&r->p, (uint32_t)child);
	fb_comm(&r->p, "p");
	pb_u32(&r->p, 0);
	pb_u64(&r->p, flags);
	fb_end(r, at);
}

START_TEST(two_buffers_tell_of_one_fork_and_exec)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r[2];
	struct pb b;

	for (int i = 0; i < 2; i++) {
		fb_ring(&r[i], 0, false);
		fb_page(&r[i], 100 + (uint64_t)i);
		fork_event(&r[i], 50, 51);
		fb_exec(&r[i], 10, 51);
		fb_exec(&r[i], 20, 51); /* it does that again */
		fb_page_end(&r[i], 0, 0);
	}
	fb_buffers7(&b, false, true, NULL, r, 2, 2);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_str_eq(fb_read(src),
			 "101 comm=p@50; 101 fork -1:51 of -1; 101 comm=p@51; "
			 "101 sched:sched_process_fork@50/0 k0 u0; "
			 "102 two/sched:sched_process_fork@50/0 k0 u0; "
			 "111 exec=true@51; "
			 "111 sched:sched_process_exec@51/0 k0 u0; "
			 "112 two/sched:sched_process_exec@51/0 k0 u0; "
			 "131 exec=true@51; "
			 "131 sched:sched_process_exec@51/0 k0 u0; "
			 "132 two/sched:sched_process_exec@51/0 k0 u0; ");
	pb_close(src, &b);
	fb_rings_free(r, 2);
	ledger_free(lg);
}
END_TEST

START_TEST(forks_execs_and_exits_are_told)
{
	struct fb_ring r;
	size_t at;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	newtask(&r, 50, 51, 0x10000); /* a thread */
	fork_event(&r, 50, 51);	      /* the same again */
	fb_exec(&r, 1, 51);
	at = fb_begin(&r, 1, FB_EXIT, 0, 51);
	fb_comm(&r.p, "true");
	pb_u32(&r.p, 51);
	fb_end(&r, at);
	fb_page_end(&r, 0, 0);
	ck_assert_str_eq(ftrace_text_of(&r, 1, false, false),
			 "101 fork -1:51 of 50; 101 comm=p@51; "
			 "101 task:task_newtask@50/0 k0 u0; 102 comm=p@50; "
			 "102 sched:sched_process_fork@50/0 k0 u0; "
			 "103 exec=true@51; "
			 "103 sched:sched_process_exec@51/0 k0 u0; "
			 "104 exit 51; "
			 "104 sched:sched_process_exit@51/0 k0 u0; ");
}
END_TEST

START_TEST(fields_and_text_are_those_of_the_format)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct field f[8];
	struct record rec;
	struct fb_ring r;
	struct ref ref;
	char text[64];
	struct pb b;

	fb_ring(&r, 0, true);
	fb_page(&r, 100);
	fb_switch(&r, 0, "swapper/0", 0, 1, "b", 9);
	fb_page_end(&r, 0, 0);
	fb_file7(&b, true, true, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	do
		ck_assert_int_eq(src->ops->next(src, &ref, &err), 1);
	while (ref.kind != CLASS_SAMPLE);
	ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
	ck_assert_int_eq(rec.pid, 0);
	ck_assert_int_eq(rec.sample.sched.kind, SCHED_SWITCH);
	ck_assert_int_eq(rec.sample.sched.next_tid, 9);
	ck_assert(rec.sample.sched.sleeps);
	ck_assert_uint_eq(src->n_events, 1);
	ck_assert_uint_eq(src->events[0].n_fields, 6);
	src->ops->fields(src, &rec.sample, f, &err);
	ck_assert_str_eq(f[1].text, "swapper/0");
	ck_assert_int_eq(f[5].num, 9);
	ck_assert_int_eq(src->ops->print(src, &rec.sample, text, 64), 0);
	ck_assert_str_eq(text, "swapper/0 ==> b");
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

static void one_page(struct fb_ring *r, uint64_t time)
{
	fb_page(r, time);
	fb_plain(r, 0, 50, 1);
	fb_page_end(r, 0, 0);
}

START_TEST(options_shift_times_and_count_losses)
{
	static const char stat[] = "CPU: 1\nentries: 3\noverrun: 20\n"
				   "commit overrun: 1\ndropped events: 4\n";
	struct ledger *lg = ledger_new();
	struct pb o = { 0 };
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;

	fb_ring(&r, 1, false);
	one_page(&r, 1000);
	fb_option(&o, FT_DATE, "0x10", 5); /* us */
	fb_option(&o, FT_OFFSET, "-500", 5);
	fb_option(&o, FT_CPUSTAT, stat, sizeof(stat));
	fb_option(&o, FT_TRACECLOCK, "local [mono] boot", 18);
	fb_option(&o, 77, "?", 1);
	fb_file7(&b, false, false, &o, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_str_eq(src->info.clock, "monotonic");
	/* the user moved them: they are on no clock that others have */
	ck_assert_int_eq(src->info.clock_id, CLOCK_ID_NONE);
	ck_assert_uint_eq(src->info.first_ns, 16500);
	ck_assert_uint_eq(src->info.last_ns, 16500);
	/* what was overwritten lies in front, what was dropped anywhere */
	ck_assert_str_eq(
		fb_read(src),
		"16500 mine:plain@50/1 k0 u0; total 20/1; total 5/1; ");
	ledger_end(lg);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_SKIPPED), 1);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(the_clock_is_told_and_a_date_makes_it_wall_time)
{
	for (int date = 0; date < 2; date++) {
		struct ledger *lg = ledger_new();
		struct pb o = { 0 };
		struct err err = { 0 };
		struct fb_ring r;
		struct pb b;

		fb_ring(&r, 1, false);
		one_page(&r, 1000);
		if (date)
			fb_option(&o, FT_DATE, "0x10", 5);
		fb_option(&o, FT_TRACECLOCK, "[local] mono", 13);
		fb_file7(&b, false, false, &o, &r, 1);
		struct source *src = fb_open(&b, lg, &err);

		ck_assert_int_eq(src->info.clock_id,
				 date ? CLOCK_ID_REAL : CLOCK_ID_SCHED);
		ck_assert_uint_eq(src->info.wall_ns, date ? 16000 : 0);
		ck_assert_uint_eq(src->info.wall_clock_ns, date ? 16000 : 0);
		pb_close(src, &b);
		fb_rings_free(&r, 1);
		ledger_free(lg);
	}
}
END_TEST

START_TEST(tsc_becomes_nanoseconds)
{
	struct ledger *lg = ledger_new();
	struct pb o = { 0 };
	struct pb conv = { 0 };
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;

	fb_ring(&r, 1, false);
	one_page(&r, (uint64_t)1 << 60);
	pb_u32(&conv, 3);
	pb_u32(&conv, 10);
	pb_u64(&conv, 99);
	fb_option(&o, FT_TSC2NSEC, conv.d, conv.n);
	fb_option(&o, FT_TRACECLOCK, "local [x86-tsc]", 16);
	fb_file7(&b, false, false, &o, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_uint_eq(src->info.first_ns, (uint64_t)3 << 50);
	ck_assert_int_eq(src->info.clock_id, CLOCK_ID_TSC);
	ck_assert_uint_eq(src->info.tsc.mult, 3);
	ck_assert_uint_eq(src->info.tsc.shift, 10);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	free(conv.d);
	ledger_free(lg);
}
END_TEST

START_TEST(times_that_are_no_nanoseconds_are_told)
{
	static const struct {
		const char *clock;
		bool told;
	} of[] = {
		{ "[local] counter uptime x86-tsc", false },
		{ "local counter uptime [x86-tsc]", true },
		{ "local [counter] uptime x86-tsc", true },
		{ "local counter [uptime] x86-tsc", true },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct ledger *lg = ledger_new();
		struct ledger_entry e;
		struct err err = { 0 };
		struct pb o = { 0 };
		struct fb_ring r;
		struct pb b;
		bool told = false;

		fb_ring(&r, 1, false);
		one_page(&r, 100);
		fb_option(&o, FT_TRACECLOCK, of[i].clock,
			  strlen(of[i].clock) + 1);
		fb_file7(&b, false, false, &o, &r, 1);
		struct source *src = fb_open(&b, lg, &err);

		ck_assert_ptr_nonnull(src);
		while (ledger_take(lg, &e))
			told |= !strcmp(e.what, "clock");
		ck_assert_int_eq(told, of[i].told);
		pb_close(src, &b);
		fb_rings_free(&r, 1);
		ledger_free(lg);
	}
}
END_TEST

START_TEST(a_cut_file_gives_every_whole_page)
{
	for (int zstd = 0; zstd < 2; zstd++) {
		struct ledger *lg = ledger_new();
		struct err err = { 0 };
		struct fb_ring r[2];
		struct pb b;

		for (int i = 0; i < 2; i++) {
			fb_ring(&r[i], i, false);
			one_page(&r[i], 100);
			one_page(&r[i], 200 + (uint64_t)i);
		}
		fb_file7(&b, false, zstd, NULL, r, 2);
		/* the options that name the buffer, and half a page */
		b.n = b.data - 30;
		struct source *src = fb_open(&b, lg, &err);

		ck_assert_msg(src != NULL, "%s", err.msg);
		ck_assert(src->info.truncated);
		ck_assert_str_eq(fb_read(src), "100 mine:plain@50/0 k0 u0; "
					       "100 mine:plain@50/1 k0 u0; "
					       "200 mine:plain@50/0 k0 u0; ");
		ck_assert_uint_ge(ledger_count(lg, LEDGER_DAMAGE), 1);
		pb_close(src, &b);
		fb_rings_free(r, 2);
		ledger_free(lg);
	}
}
END_TEST

START_TEST(the_kernel_is_where_kallsyms_says)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct record rec;
	struct fb_ring r;
	struct ref ref;
	struct pb b;
	int kernel = 0;
	int module = 0;

	fb_ring(&r, 0, false);
	one_page(&r, 100);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_ptr_nonnull(src->info.kallsyms);
	while (src->ops->next(src, &ref, &err) > 0) {
		src->ops->decode(src, &ref, &rec, &err);
		if (rec.kind != REC_MAP)
			continue;
		ck_assert(rec.flags & REC_F_KERNEL && ref.untimed);
		kernel += rec.map.start == 0xffffffff81000000 &&
			  rec.map.len == 0x200000 &&
			  rec.map.pgoff == rec.map.start;
		module += rec.map.start == 0xffffffffc0001000 &&
			  rec.map.len == 4096 &&
			  !strcmp(rec.map.path, "[mine]");
	}
	ck_assert_int_eq(kernel, 1);
	ck_assert_int_eq(module, 1);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(recorded_mappings_become_maps)
{
	static const char maps[] = "32 3 prog\n1000 2000 /bin/x\n"
				   "2000 5000 /bin/x\n7000 8000 [stack]\n";
	struct ledger *lg = ledger_new();
	struct pb o = { 0 };
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;
	char text[256] = "";

	fb_ring(&r, 0, false);
	one_page(&r, 100);
	fb_option(&o, FT_PROCMAPS, maps, sizeof(maps));
	fb_file7(&b, false, false, &o, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	const struct snapshot *s = src->info.maps;

	ck_assert_uint_eq(src->info.n_maps, 1);
	ck_assert_int_eq(s->pid, 50);
	ck_assert_int_eq(s->time, TIME_NONE);
	for (size_t i = 0; i < s->n; i++) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%x+%x@%x %s %d;",
			 (int)s->map[i].start, (int)s->map[i].len,
			 (int)s->map[i].pgoff, s->map[i].path,
			 s->map[i].derived);
	}
	ck_assert_str_eq(text,
			 "1000+1000@0 /bin/x 1;"
			 "2000+3000@1000 /bin/x 1;7000+1000@0 [stack] 0;");
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(a_page_that_lies_is_damage_and_the_next_is_read)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;

	fb_ring(&r, 0, false);
	one_page(&r, 100);
	pb_patch(&r.p, 8, FB_PAGE, 8); /* more than there can be */
	fb_page(&r, 200);
	fb_plain(&r, 0, 50, 1);
	fb_word(&r, 20, 1); /* an entry beyond the data */
	fb_page_end(&r, 0, 0);
	one_page(&r, 300);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_str_eq(fb_read(src), "200 mine:plain@50/0 k0 u0; "
				       "300 mine:plain@50/0 k0 u0; ");
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 2);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

START_TEST(an_entry_of_an_event_without_a_format_is_skipped_and_counted)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_plain(&r, 0, 50, 1);
	size_t id = r.p.n;
	fb_plain(&r, 1, 50, 2);
	pb_patch(&r.p, id + 8, 999, 2);
	fb_page_end(&r, 0, 0);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_ptr_nonnull(fb_read(src));
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	ledger_end(lg);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_SKIPPED), 1);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

RUN("ftrace", every_kind_of_entry_is_understood, version_6_says_the_same,
    cpus_are_merged_by_time, stacks_of_trace_dat_belong_to_the_event_before,
    a_stack_in_a_field_is_its_events_where_that_has_none,
    records_stay_in_the_arena_of_the_caller, a_stack_goes_around_an_interrupt,
    a_stack_without_an_owner_is_an_event,
    lost_entries_are_marked_and_part_stacks, time_that_goes_back_is_noted,
    names_come_from_switches_and_then_from_saved_ones,
    forks_execs_and_exits_are_told, two_buffers_tell_of_one_fork_and_exec,
    fields_and_text_are_those_of_the_format,
    options_shift_times_and_count_losses,
    the_clock_is_told_and_a_date_makes_it_wall_time, tsc_becomes_nanoseconds,
    times_that_are_no_nanoseconds_are_told, a_cut_file_gives_every_whole_page,
    the_kernel_is_where_kallsyms_says, recorded_mappings_become_maps,
    a_page_that_lies_is_damage_and_the_next_is_read,
    an_entry_of_an_event_without_a_format_is_skipped_and_counted)
