/* ftrace_around.c - trace.dat files: buffers, and what stands around pages. */
#include "formats/formats.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/fact.h"
#include "formats/tracepoint/tracepoint.h"
#include "tests/unit/ftrace_build.h"

static void one_plain(struct fb_ring *r, int32_t cpu, uint64_t time)
{
	fb_ring(r, cpu, false);
	fb_page(r, time);
	fb_plain(r, 0, 50, 1);
	fb_page_end(r, 0, 0);
}

START_TEST(an_event_of_two_buffers_is_an_event_of_each)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r[2];
	struct record rec;
	struct ref ref;
	struct pb b;
	uint32_t rings = 0;

	one_plain(&r[0], 0, 100);
	one_plain(&r[1], 0, 101);
	fb_buffers7(&b, false, false, NULL, r, 2, 2);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_str_eq(src->info.clock, "monotonic");
	while (src->ops->next(src, &ref, &err) > 0) {
		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		if (rec.kind == REC_SAMPLE)
			rings = rings * 10 + rec.ring + 1;
	}
	ck_assert_uint_eq(rings, 12);
	ck_assert_uint_eq(src->n_events, 2);
	ck_assert_str_eq(src->events[0].name, "mine:plain");
	ck_assert_ptr_null(src->events[0].buffer);
	ck_assert_str_eq(src->events[1].name, "two/mine:plain");
	ck_assert_str_eq(src->events[1].buffer, "two");
	ck_assert_str_eq(event_plain_name(&src->events[1]), "mine:plain");
	ck_assert_uint_eq(src->events[1].n_fields, src->events[0].n_fields);
	pb_close(src, &b);
	fb_rings_free(r, 2);
	ledger_free(lg);
}
END_TEST

START_TEST(sums_of_a_buffer_stand_behind_its_heading)
{
	static const char *const text[] = { "CPU: 0\noverrun: 3\n",
					    "\nBuffer: two\n\n",
					    "CPU: 0\noverrun: 4\n" };
	struct ledger *lg = ledger_new();
	struct pb o = { 0 };
	struct err err = { 0 };
	struct fb_ring r[2];
	struct record rec;
	struct ref ref;
	struct pb b;
	uint64_t n[2] = { 0 };

	one_plain(&r[0], 0, 100);
	one_plain(&r[1], 0, 101);
	for (size_t i = 0; i < 3; i++)
		fb_option(&o, FT_CPUSTAT, text[i], strlen(text[i]) + 1);
	fb_buffers7(&b, false, false, &o, r, 2, 2);
	struct source *src = fb_open(&b, lg, &err);

	while (src->ops->next(src, &ref, &err) > 0) {
		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		if (rec.kind == REC_LOST_TOTAL)
			n[rec.ring] += rec.lost.n;
	}
	ck_assert_uint_eq(n[0], 3);
	ck_assert_uint_eq(n[1], 4);
	pb_close(src, &b);
	fb_rings_free(r, 2);
	ledger_free(lg);
}
END_TEST

START_TEST(recorded_mappings_hold_from_the_last_exec_on)
{
	static const char maps[] = "32 1 prog\n1000 2000 /bin/x\n"
				   "33 1 other\n1000 2000 /bin/y\n";
	struct ledger *lg = ledger_new();
	struct pb o = { 0 };
	struct err err = { 0 };
	struct fb_ring r;
	struct pb b;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	fb_exec(&r, 10, 50);
	fb_exec(&r, 20, 50);
	fb_page_end(&r, 0, 0);
	fb_option(&o, FT_PROCMAPS, maps, sizeof(maps));
	fb_file7(&b, false, false, &o, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	ck_assert_uint_eq(src->info.n_maps, 2);
	ck_assert_int_eq(src->info.maps[0].time, 130);
	ck_assert_str_eq(src->info.maps[0].map[0].path, "/bin/x");
	ck_assert_int_eq(src->info.maps[1].time, TIME_NONE);
	ck_assert_str_eq(src->info.maps[1].map[0].path, "/bin/y");
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

/* An open file with the option of a guest or of its host. */
static struct source *machine(struct pb *b, struct ledger *lg, struct pb *o)
{
	struct err err = { 0 };
	struct fb_ring r;

	fb_ring(&r, 0, false);
	fb_page(&r, 1000);
	fb_plain(&r, 0, 50, 1);
	fb_plain(&r, 500, 50, 1);
	fb_plain(&r, 1500, 50, 1);
	fb_page_end(&r, 0, 0);
	fb_file7(b, false, false, o, &r, 1);
	fb_rings_free(&r, 1);
	struct source *src = pb_open_cut(b, b->n, NULL, lg, &err);

	ck_assert_msg(src != NULL, "%s", err.msg);
	return src;
}

/* Samples at 1000 and 2000: 10000 and 10400 behind; scaling 1 << 4. */
static void shift_option(struct pb *o, uint32_t flags, uint32_t cut)
{
	struct pb p = { 0 };

	pb_u64(&p, 77);
	pb_u32(&p, flags);
	pb_u32(&p, 1);
	pb_u32(&p, 2);
	pb_u64(&p, 2000);
	pb_u64(&p, 1000);
	pb_u64(&p, 10400);
	pb_u64(&p, 10000);
	pb_u64(&p, 16);
	pb_u64(&p, 16);
	pb_u64(&p, 4);
	pb_u64(&p, 4);
	fb_option(o, FT_TIME_SHIFT, p.d, p.n - cut);
	free(p.d);
}

static const char *guest_times(uint32_t flags, uint64_t host_id)
{
	static char text[256];
	struct ledger *lg = ledger_new();
	struct pb o[2] = { 0 };
	struct source *src[2];
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	struct pb b[2];
	struct pb id = { 0 };

	pb_u64(&id, host_id);
	text[0] = '\0';
	shift_option(&o[0], flags, 0);
	fb_option(&o[1], FT_TRACEID, id.d, id.n);
	free(id.d);
	for (int i = 0; i < 2; i++)
		src[i] = machine(&b[i], lg, &o[i]);
	formats_pair(src, 2);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(src[i]->ops->scan(src[i], &err), 0);
	while (src[0]->ops->next(src[0], &ref, &err) > 0) {
		size_t n = strlen(text);

		ck_assert_int_eq(src[0]->ops->decode(src[0], &ref, &rec, &err),
				 0);
		if (rec.kind == REC_SAMPLE)
			snprintf(text + n, sizeof(text) - n, "%d ",
				 (int)rec.time);
	}
	for (int i = 0; i < 2; i++)
		pb_close(src[i], &b[i]);
	ledger_free(lg);
	return text;
}

START_TEST(times_of_a_guest_become_its_hosts_when_both_are_read)
{
	ck_assert_str_eq(guest_times(0, 77), "11000 11500 13000 ");
	ck_assert_str_eq(guest_times(1, 77), "11000 11700 13800 ");
	ck_assert_str_eq(guest_times(0, 78), "1000 1500 3000 ");
}
END_TEST

START_TEST(time_samples_that_are_cut_are_damage)
{
	for (uint32_t cut = 17; cut < 100; cut += 8) {
		struct ledger *lg = ledger_new();
		struct pb o = { 0 };
		struct err err = { 0 };
		struct pb b;

		shift_option(&o, 0, cut < 80 ? cut : 80 - 2);
		struct source *src = machine(&b, lg, &o);

		ck_assert_int_eq(src->ops->scan(src, &err), 0);
		ck_assert_str_eq(fb_read(src), "1000 mine:plain@50/0 k0 u0; "
					       "1500 mine:plain@50/0 k0 u0; "
					       "3000 mine:plain@50/0 k0 u0; ");
		ck_assert_uint_ge(ledger_count(lg, LEDGER_DAMAGE), 1);
		pb_close(src, &b);
		ledger_free(lg);
	}
}
END_TEST

START_TEST(addresses_of_the_last_boot_are_moved)
{
	static const char boot[] = "two:ffffffff91000000\t[kernel]\n"
				   "ffffffffd0001000\tmine\n";
	struct ledger *lg = ledger_new();
	struct pb o = { 0 };
	struct err err = { 0 };
	struct fb_ring r[2];
	struct record rec;
	struct ref ref;
	struct pb b;

	for (int i = 0; i < 2; i++) {
		fb_ring(&r[i], 0, false);
		fb_page(&r[i], 100 + (uint64_t)i);
		fb_plain(&r[i], 0, 50, 1);
		fb_stack(&r[i], FB_KSTACK, 0, 50, 2, 0xffffffff911ffff8, 2);
		fb_page_end(&r[i], 0, 0);
	}
	fb_option(&o, FT_LAST_BOOT, boot, sizeof(boot));
	fb_buffers7(&b, false, false, &o, r, 2, 2);
	struct source *src = fb_open(&b, lg, &err);

	while (src->ops->next(src, &ref, &err) > 0) {
		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		if (rec.kind != REC_SAMPLE)
			continue;
		ck_assert_uint_eq(rec.sample.kern.n, 2);
		ck_assert_uint_eq(rec.sample.kern.ip[0],
				  rec.ring ? 0xffffffff811ffff8
					   : 0xffffffff911ffff8);
		/* behind the kernel's end */
		ck_assert_uint_eq(rec.sample.kern.ip[1], 0xffffffff91200008);
	}
	pb_close(src, &b);
	fb_rings_free(r, 2);
	ledger_free(lg);
}
END_TEST

/* An entry of trace_printk(); its arguments follow. */
static size_t printed(struct fb_ring *r, uint16_t id, uint64_t text)
{
	size_t at = fb_begin(r, 1, id, 0, 50);

	pb_u64(&r->p, 0xffffffff81000010);
	pb_u64(&r->p, text);
	return at;
}

START_TEST(what_trace_printk_wrote_is_text)
{
	static const char *const want[] = {
		"one: n=-7 \"abc\" 1234567890",
		"one: just text",
		"one: (its text is not in the capture)",
		"one: n=5 \"%s\" %llx",
	};
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r;
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[256];
	size_t n = 0;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	size_t at = printed(&r, FB_BPRINT, 0xffffffff82000010);

	pb_u32(&r.p, (uint32_t)-7);
	pb_raw(&r.p, "abc", 4);
	pb_u64(&r.p, 0x1234567890);
	fb_end(&r, at);
	fb_end(&r, printed(&r, FB_BPUTS, 0xffffffff82000000));
	fb_end(&r, printed(&r, FB_BPUTS, 0x1234));
	at = printed(&r, FB_BPRINT, 0xffffffff82000010);
	pb_u32(&r.p, 5); /* and no more */
	fb_end(&r, at);
	fb_page_end(&r, 0, 0);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	while (src->ops->next(src, &ref, &err) > 0) {
		struct field f[16];

		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		if (rec.kind != REC_SAMPLE)
			continue;
		const struct event_def *e = &src->events[rec.sample.event];

		must(!src->ops->print(src, &rec.sample, text, sizeof(text)));
		ck_assert_str_eq(text, want[n]);
		ck_assert_int_eq(src->ops->fields(src, &rec.sample, f, &err),
				 0);
		ck_assert_str_eq(e->fields[e->n_fields - 2].name, "function");
		ck_assert_str_eq(f[e->n_fields - 2].text, "one");
		ck_assert_str_eq(e->fields[e->n_fields - 1].name, "text");
		ck_assert(e->fields[e->n_fields - 1].is_text);
		ck_assert_str_eq(f[e->n_fields - 1].text,
				 strchr(want[n], ':') + 2);
		n++;
	}
	ck_assert_uint_eq(n, 4);
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

/* Arguments as the kernel packs them. */
/* An event with these addresses, its text and the names in it. */
static const struct named {
	uint64_t s, function, caller;
	const char *text, *alone, *name[3];
} named[] = {
	{ 0xffffffff82000000,
	  0xffffffff81000010,
	  0xffffffff81000014,
	  "just text, 100% by one from one+0x4/0x70 at 0000000000001234 (a, b)",
	  "0xffffffff82000000, 100% by 0xffffffff81000010 from "
	  "0xffffffff81000014 at 0000000000001234 (a, b)",
	  { "just text", "one", "one+0x4/0x70" } },
	{ 0x99,
	  0x10,
	  0,
	  "0x99, 100% by 0x10 from 0x0 at 0000000000001234 (a, b)",
	  "0x99, 100% by 0x10 from 0x0 at 0000000000001234 (a, b)",
	  { "0x99", "0x10", "0x0" } },
	/* as before: its texts are known */
	{ 0xffffffff82000000,
	  0xffffffff81000010,
	  0xffffffff81000014,
	  "just text, 100% by one from one+0x4/0x70 at 0000000000001234 (a, b)",
	  "0xffffffff82000000, 100% by 0xffffffff81000010 from "
	  "0xffffffff81000014 at 0000000000001234 (a, b)",
	  { "just text", "one", "one+0x4/0x70" } },
	/* not in the order of kallsyms */
	{ 0x99,
	  0xffffffff81000084,
	  0xffffffffc0001010,
	  "0x99, 100% by late from mod_f+0x0 [mine] at 0000000000001234 (a, b)",
	  "0x99, 100% by 0xffffffff81000084 from 0xffffffffc0001010 at "
	  "0000000000001234 (a, b)",
	  { "0x99", "late", "mod_f+0x0 [mine]" } },
};

START_TEST(names_of_functions_and_strings_are_fields_too)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct fb_ring r;
	struct record rec;
	struct ref ref;
	struct pb b;
	char text[256];
	size_t n = 0;

	fb_ring(&r, 0, false);
	fb_page(&r, 100);
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		size_t at = fb_begin(&r, 1, FB_NAMES, 0, 50);

		pb_u64(&r.p, named[i].s);
		pb_u64(&r.p, named[i].function);
		pb_u64(&r.p, named[i].caller);
		pb_u64(&r.p, 0x1234);
		fb_end(&r, at);
	}
	fb_page_end(&r, 0, 0);
	fb_file7(&b, false, false, NULL, &r, 1);
	struct source *src = fb_open(&b, lg, &err);

	while (src->ops->next(src, &ref, &err) > 0) {
		struct field f[16];

		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		if (rec.kind != REC_SAMPLE)
			continue;
		const struct event_def *e = &src->events[rec.sample.event];

		ck_assert(e->adds_fields);
		must(!src->ops->print(src, &rec.sample, text, sizeof(text)));
		ck_assert_str_eq(text, named[n].text);
		must(!src->ops->fields(src, &rec.sample, f, &err));
		ck_assert_uint_eq(e->n_fields, 8);
		ck_assert_str_eq(e->fields[5].name, "s_name");
		struct payload *pl =
			payload_new(e->format, &(struct payload_machine){ 0 });

		/* without the fields, of the payload alone */
		tp_print(&pl->tp, &pl->fmt, rec.sample.raw, rec.sample.raw_len,
			 text, sizeof(text));
		ck_assert_str_eq(text, named[n].alone);
		payload_free(pl);
		ck_assert_str_eq(e->fields[7].name, "caller_name");
		for (size_t i = 0; i < 3; i++)
			ck_assert_str_eq(f[5 + i].text, named[n].name[i]);
		n++;
	}
	ck_assert_uint_eq(n, ARRAY_SIZE(named));
	ck_assert_uint_eq(ledger_count(lg, LEDGER_DAMAGE), 0);
	pb_close(src, &b);
	fb_rings_free(&r, 1);
	ledger_free(lg);
}
END_TEST

static const char *bprint(const char *format, const struct pb *args)
{
	static char text[256];
	struct tp tp = { 0 };
	struct bytes b;

	tp.swap = bytes_must_swap(args->big);
	bytes_init(&b, args->d ? (const void *)args->d : "", args->n, "a", 0,
		   tp.swap);
	tp_bprint(&tp, format, &b, text, sizeof(text));
	return text;
}

START_TEST(packed_arguments_have_an_alignment_each)
{
	struct pb p = { 0 };

	pb_num(&p, 'x', 1); /* %c */
	pb_num(&p, 0, 1);
	pb_u16(&p, 300);    /* %hu */
	pb_num(&p, 255, 1); /* %hhx */
	pb_raw(&p, "a", 2); /* %s */
	pb_num(&p, 0, 1);
	pb_u64(&p, 1);		  /* %lu */
	pb_u64(&p, 0x10);	  /* %pS */
	pb_raw(&p, "1.2.3.4", 8); /* %pI4 */
	ck_assert_str_eq(bprint("%c %hu %hhx %s %lu %pS %pI4%%\n", &p),
			 "x 300 ff a 1 0x10 1.2.3.4%");
	free(p.d);
	p = (struct pb){ 0 };
	pb_u32(&p, 3);
	ck_assert_str_eq(bprint("%5d|%*d", &p), "    3|%*d");
	ck_assert_str_eq(bprint("%d %d %s", &p), "3 %d %s");
	ck_assert_str_eq(bprint("%", &p), "%");
	pb_u32(&p, 7);
	ck_assert_str_eq(bprint("%*d|%d", &p), "  7|%d");
	free(p.d);
}
END_TEST

/* more: what the size says too much; cut: bytes that the end of the text lacks;
 * whole: it is no damage; names: whether version 6 can have them. */
static void ftrace_names_of_size(unsigned int version, int more, size_t cut,
				 bool whole, bool names)
{
	static const char text[] = "7 seven\n12 twelve\n123 hundred\n4 f\n";
	const size_t n = sizeof(text) - 1 - cut;
	unsigned char section[8 + sizeof(text)];
	uint64_t said = n + (uint64_t)more;
	struct ft ft = { .version = version };
	struct err err = { 0 };
	struct bytes b;

	memcpy(section, &said, 8);
	memcpy(section + 8, text, n);
	bytes_init(&b, section, 8 + n, "f", 0, false);
	int rc = ft_meta_read(&ft, FT_CMDLINES, &b, &err);
	ck_assert_int_eq(rc, whole || more < 0 ? 0 : -1);
	/* what is left is noted */
	if (!rc)
		ck_assert_uint_eq(bytes_left(&b), whole ? 0 : (size_t)-more);
	if (names)
		ck_assert_str_eq(ft_name_of(&ft, 123), "hundred");
	else
		ck_assert_ptr_null(ft_name_of(&ft, 7));
	free(ft.cmd);
	arena_release(&ft.arena);
}

/* trace-cmd wrote the size that the kernel's file had before it was copied. */
START_TEST(names_of_another_size_than_was_asked_for_are_read)
{
	ftrace_names_of_size(6, 0, 0, true, true);
	ftrace_names_of_size(6, 15, 0, false, false);
	ftrace_names_of_size(7, 0, 0, true, true);
	ftrace_names_of_size(7, 15, 0, true, true);
	ftrace_names_of_size(7, -4, 0, true, true);
	/* of a text that ends within a line, and of sizes that cannot be */
	ftrace_names_of_size(7, 2, 2, false, true);
	ftrace_names_of_size(7, -4, 2, false, true);
	ftrace_names_of_size(7, 1 << 30, 0, false, true);
	ftrace_names_of_size(7, -30, 0, false, true);
}
END_TEST

RUN("ftrace_around", what_trace_printk_wrote_is_text,
    names_of_functions_and_strings_are_fields_too,
    packed_arguments_have_an_alignment_each,
    an_event_of_two_buffers_is_an_event_of_each,
    sums_of_a_buffer_stand_behind_its_heading,
    recorded_mappings_hold_from_the_last_exec_on,
    times_of_a_guest_become_its_hosts_when_both_are_read,
    time_samples_that_are_cut_are_damage, addresses_of_the_last_boot_are_moved,
    names_of_another_size_than_was_asked_for_are_read)
