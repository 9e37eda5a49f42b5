/* perf_sample.c - the layout of samples: every field, both byte orders. */
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

#define KERNEL ((uint64_t)-128)
#define USER ((uint64_t)-512)
#define DEFERRED ((uint64_t)-640)
#define GUEST_KERNEL ((uint64_t)-2176)

static const struct extra *extra(const struct rec_sample *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_extra; i++)
		if (!strcmp(s->extra[i].name, name))
			return &s->extra[i];
	ck_abort_msg("no extra '%s'", name);
	return NULL;
}

/* One capture of one event with one sample, whose body fill() writes. */
static void one_sample(const struct pb_event *ev, bool big, uint16_t misc,
		       void (*fill)(struct pb *b),
		       void (*look)(const struct record *rec))
{
	struct record rec;
	struct ref ref;
	struct pb b;

	pb_begin(&b, big, ev, 1);
	pb_rec(&b, PR_SAMPLE, misc);
	fill(&b);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_int_eq(rec.kind, REC_SAMPLE);
	look(&rec);
	ck_assert(!pb_next(src, &ref, &rec));
	ck_assert(src->floor == UINT64_MAX);
	pb_close(src, &b);
}

/* From the user registers on. */
static void fill_rest(struct pb *b)
{
	pb_u64(b, 2); /* user registers: abi, 2 values */
	pb_u64(b, 0x51);
	pb_u64(b, 0x52);
	pb_u64(b, 8); /* user stack: size, data, dyn */
	pb_raw(b, "stackbyt", 8);
	pb_u64(b, 6);
	if (b->big) { /* weights */
		pb_u16(b, 3);
		pb_u16(b, 2);
		pb_u32(b, 1);
	} else {
		pb_u32(b, 1);
		pb_u16(b, 2);
		pb_u16(b, 3);
	}
	pb_u64(b, 0xd5); /* data_src */
	pb_u64(b, 0x7a); /* transaction */
	pb_u64(b, 1);	 /* interrupt registers */
	pb_u64(b, 0x61);
	pb_u64(b, 0x9a); /* phys_addr */
	pb_u64(b, 0xc9); /* cgroup */
	pb_u64(b, 4096); /* data page */
	pb_u64(b, 8192); /* code page */
	pb_u64(b, 8);	 /* aux */
	pb_raw(b, "auxbytes", 8);
}

static void fill_all(struct pb *b)
{
	pb_u64(b, 77); /* identifier */
	pb_u64(b, 0x1000);
	pb_u32(b, 11);
	pb_u32(b, 12);
	pb_u64(b, 5000);   /* time */
	pb_u64(b, 0xadd0); /* addr */
	pb_u64(b, 77);	   /* id */
	pb_u64(b, 78);	   /* stream id */
	pb_u32(b, 3);
	pb_u32(b, 0);
	pb_u64(b, 999); /* period */
	pb_u64(b, 2);	/* group read: nr, enabled, running */
	pb_u64(b, 61);
	pb_u64(b, 62);
	for (uint64_t i = 0; i < 2; i++) {
		pb_u64(b, 100 + i);
		pb_u64(b, 200 + i);
		pb_u64(b, 300 + i);
	}
	pb_u64(b, 5); /* chain */
	pb_u64(b, KERNEL);
	pb_u64(b, 0x2000);
	pb_u64(b, USER);
	pb_u64(b, 0x3000);
	pb_u64(b, 0x3001);
	pb_u32(b, 4); /* raw */
	pb_raw(b, "abcd", 4);
	pb_u64(b, 1); /* branches: nr, hw_idx, entry, counters */
	pb_u64(b, 55);
	pb_u64(b, 0x41);
	pb_u64(b, 0x42);
	pb_u64(b, b->big ? (uint64_t)1 << 62 | (uint64_t)9 << 44
			 : (uint64_t)2 | 9 << 4);
	pb_u64(b, 0xc0);
	fill_rest(b);
}

static void perf_sample_look_all(const struct record *rec)
{
	const struct rec_sample *s = &rec->sample;

	ck_assert_int_eq(rec->pid, 11);
	ck_assert_int_eq(rec->tid, 12);
	ck_assert_int_eq(rec->cpu, 3);
	ck_assert_uint_eq(rec->time, 5000);
	ck_assert_uint_eq(rec->flags, REC_F_KERNEL);
	ck_assert_uint_eq(s->ip, 0x1000);
	ck_assert_uint_eq(s->weight, 999);
	ck_assert_uint_eq(s->kern.n, 1);
	ck_assert_uint_eq(s->kern.ip[0], 0x2000);
	ck_assert_uint_eq(s->user.n, 2);
	ck_assert_uint_eq(s->user.ip[1], 0x3001);
	ck_assert_int_eq(s->defer, DEFER_DIRECT);
	ck_assert_uint_eq(s->raw_len, 4);
	ck_assert(!memcmp(s->raw, "abcd", 4));
	ck_assert_uint_eq(s->n_branch, 1);
	ck_assert_uint_eq(s->branch[0].from, 0x41);
	ck_assert_uint_eq(s->branch[0].flags, 2 | 9 << 4);
	ck_assert_uint_eq(s->user_regs.n, 2);
	ck_assert_uint_eq(s->user_regs.mask, 0x81);
	ck_assert_uint_eq(s->user_regs.v[1], 0x52);
	ck_assert_uint_eq(s->stack_len, 6);
	ck_assert(!memcmp(s->stack, "stackb", 6));
	ck_assert_uint_eq(extra(s, "addr")->value, 0xadd0);
	ck_assert_uint_eq(extra(s, "read.enabled")->value, 61);
	ck_assert_uint_eq(extra(s, "read.1.value")->value, 101);
	ck_assert_uint_eq(extra(s, "read.1.id")->value, 201);
	ck_assert_uint_eq(extra(s, "read.0.lost")->value, 300);
	ck_assert_uint_eq(extra(s, "ip")->value, 0x1000);
	ck_assert_uint_eq(extra(s, "hw_idx")->value, 55);
	/* little-endian, whatever the host is */
	ck_assert_uint_eq(extra(s, "branch_counters")->len, 8);
	ck_assert_mem_eq(extra(s, "branch_counters")->blob, "\xc0\0\0\0\0\0\0",
			 8);
	ck_assert_uint_eq(extra(s, "weight")->value, 1);
	ck_assert_uint_eq(extra(s, "weight2")->value, 2);
	ck_assert_uint_eq(extra(s, "weight3")->value, 3);
	ck_assert_uint_eq(extra(s, "data_src")->value, 0xd5);
	ck_assert_uint_eq(extra(s, "transaction")->value, 0x7a);
	ck_assert_uint_eq(extra(s, "intr_regs")->len, 8);
	ck_assert_mem_eq(extra(s, "intr_regs")->blob, "\x61\0\0\0\0\0\0", 8);
	ck_assert_uint_eq(extra(s, "phys_addr")->value, 0x9a);
	ck_assert_uint_eq(extra(s, "cgroup")->value, 0xc9);
	ck_assert_uint_eq(extra(s, "data_page_size")->value, 4096);
	ck_assert_uint_eq(extra(s, "code_page_size")->value, 8192);
	ck_assert_uint_eq(extra(s, "aux_size")->value, 8);
}

START_TEST(every_field_is_at_its_place_in_both_byte_orders)
{
	struct pb_event ev = {
		.attr_size = PB_ATTR,
		.sample_type = 0x1ffffff & ~PS_WEIGHT,
		.read_format = 1 | 2 | 4 | 8 | 16,
		.flags = PA_SAMPLE_ID_ALL,
		.branch_type = 1 << 17 | 1 << 19,
		.regs_user = 0x81,
		.regs_intr = 0x10,
		.ids = { 77 },
		.n_ids = 1,
	};

	one_sample(&ev, _i, 1, fill_all, perf_sample_look_all);
}
END_TEST

#define CHAIN (PS_IP | PS_TID | PS_TIME | PS_CALLCHAIN)
static const struct pb_event chains = { .attr_size = PB_ATTR,
					.sample_type = CHAIN,
					.flags = PA_SAMPLE_ID_ALL | PA_DEFER };

static void perf_sample_head(struct pb *b, uint64_t ip)
{
	pb_u64(b, ip);
	pb_u64(b, 0);
	pb_u64(b, 5000);
}

static void perf_sample_chain(struct pb *b, const uint64_t *v, size_t n)
{
	perf_sample_head(b, v[0] > (uint64_t)-4096 ? v[1] : v[0]);
	pb_u64(b, n);
	for (size_t i = 0; i < n; i++)
		pb_u64(b, v[i]);
}

static void fill_cookie(struct pb *b)
{
	perf_sample_chain(
		b, (uint64_t[]){ KERNEL, 0x10, 0x11, DEFERRED, 0x300000002 },
		5);
}

static void look_cookie(const struct record *rec)
{
	const struct rec_sample *s = &rec->sample;

	ck_assert_int_eq(s->defer, DEFER_COOKIE);
	ck_assert_uint_eq(s->cookie, 0x300000002);
	ck_assert_uint_eq(s->kern.n, 2);
	ck_assert_uint_eq(s->user.n, 0);
	ck_assert_uint_eq(s->n_extra, 0);
}

START_TEST(the_cookie_is_no_address)
{
	one_sample(&chains, _i, 1, fill_cookie, look_cookie);
}
END_TEST

static void fill_mark(struct pb *b)
{
	perf_sample_chain(b, (uint64_t[]){ KERNEL, 0x10, DEFERRED }, 3);
}

static void look_mark(const struct record *rec)
{
	ck_assert_int_eq(rec->sample.defer, DEFER_MARK);
	ck_assert_uint_eq(rec->sample.kern.n, 1);
	ck_assert_uint_eq(rec->sample.user.n, 0);
}

START_TEST(a_mark_without_cookie_is_told_apart)
{
	one_sample(&chains, false, 1, fill_mark, look_mark);
}
END_TEST

static void fill_bare(struct pb *b)
{
	perf_sample_chain(b, (uint64_t[]){ 0x10, 0x11 }, 2);
}

static void look_bare_user(const struct record *rec)
{
	ck_assert_uint_eq(rec->sample.kern.n, 0);
	ck_assert_uint_eq(rec->sample.user.n, 2);
	ck_assert_int_eq(rec->sample.defer, DEFER_DIRECT);
}

static void look_bare_kernel(const struct record *rec)
{
	ck_assert_uint_eq(rec->sample.kern.n, 2);
	ck_assert_uint_eq(rec->sample.user.n, 0);
	ck_assert_int_eq(rec->sample.defer, DEFER_NONE);
}

START_TEST(a_chain_without_marks_goes_by_the_mode)
{
	one_sample(&chains, false, 2, fill_bare, look_bare_user);
	one_sample(&chains, false, 1, fill_bare, look_bare_kernel);
}
END_TEST

static void fill_parts(struct pb *b)
{
	perf_sample_chain(b,
			  (uint64_t[]){ GUEST_KERNEL, 1, KERNEL, 2, 3, USER, 7,
					8, GUEST_KERNEL, 9 },
			  10);
}

static void look_parts(const struct record *rec)
{
	const struct rec_sample *s = &rec->sample;
	static const uint64_t kern[] = { 1, 2, 3 };
	static const uint64_t user[] = { 7, 8, 9 };

	ck_assert_uint_eq(s->kern.n, 3);
	ck_assert_uint_eq(s->user.n, 3);
	ck_assert(!memcmp(s->kern.ip, kern, sizeof(kern)));
	ck_assert(!memcmp(s->user.ip, user, sizeof(user)));
	ck_assert_uint_eq(rec->flags & REC_F_GUEST, REC_F_GUEST);
}

START_TEST(parts_of_a_half_are_put_together)
{
	one_sample(&chains, _i, 1, fill_parts, look_parts);
}
END_TEST

/* As of dash, whose rbp held -128 and stood in front of a pointer. */
static void fill_words(struct pb *b)
{
	perf_sample_chain(b, (uint64_t[]){ USER, 7, KERNEL, 8, DEFERRED, 9 },
			  6);
}

static void look_words(const struct record *rec)
{
	const struct rec_sample *s = &rec->sample;
	static const uint64_t user[] = { 7, 8, 9 };

	ck_assert_uint_eq(s->kern.n, 0);
	ck_assert_uint_eq(s->user.n, 3);
	ck_assert(!memcmp(s->user.ip, user, sizeof(user)));
	ck_assert_int_eq(s->defer, DEFER_DIRECT);
}

START_TEST(a_word_behind_the_mark_of_the_user_is_no_mark)
{
	one_sample(&chains, _i, 2, fill_words, look_words);
}
END_TEST

static void fill_lone(struct pb *b)
{
	perf_sample_head(b, 0x99);
}

static void look_lone(const struct record *rec)
{
	ck_assert_uint_eq(rec->sample.user.n, 1);
	ck_assert_uint_eq(rec->sample.user.ip[0], 0x99);
	ck_assert_uint_eq(rec->sample.kern.n, 0);
	ck_assert(rec->flags & REC_F_NO_CHAIN);
	ck_assert_uint_eq(rec->sample.weight, 40);
}

START_TEST(an_event_without_chain_gives_its_address)
{
	struct pb_event ev = chains;

	ev.sample_type = PS_IP | PS_TID | PS_TIME;
	ev.period = 40;
	one_sample(&ev, false, 2, fill_lone, look_lone);
}
END_TEST

static void fill_lbr(struct pb *b)
{
	perf_sample_chain(b, (uint64_t[]){ KERNEL, 0x10, USER, 0x20, 0x21 }, 5);
	pb_u64(b, 2);
	for (uint64_t i = 0; i < 2; i++) {
		pb_u64(b, 0x100 + i);
		pb_u64(b, 0x200 + i);
		pb_u64(b, 0);
	}
}

static void look_lbr(const struct record *rec)
{
	static const uint64_t user[] = { 0x200, 0x100, 0x101 };

	ck_assert_uint_eq(rec->sample.kern.n, 1);
	ck_assert_uint_eq(rec->sample.user.n, 3);
	ck_assert(!memcmp(rec->sample.user.ip, user, sizeof(user)));
	ck_assert(rec->flags & REC_F_LBR);
}

START_TEST(an_lbr_call_stack_is_the_user_half)
{
	struct pb_event ev = chains;

	ev.sample_type |= PS_BRANCH;
	ev.branch_type = 1 << 11;
	one_sample(&ev, _i, 1, fill_lbr, look_lbr);
}
END_TEST

static void look_lbr_user(const struct record *rec)
{
	static const uint64_t user[] = { 0x10, 0x100, 0x101 };

	ck_assert_uint_eq(rec->sample.user.n, 3);
	ck_assert(!memcmp(rec->sample.user.ip, user, sizeof(user)));
}

START_TEST(an_lbr_call_stack_begins_with_the_user_address_that_was_hit)
{
	struct pb_event ev = chains;

	ev.sample_type |= PS_BRANCH;
	ev.branch_type = 1 << 11;
	one_sample(&ev, _i, 2, fill_lbr, look_lbr_user);
}
END_TEST

#define MODE_KERNEL 1
#define MODE_USER 2

/* What the chain of a sample of address 0x99 holds, and what its halves are. */
struct hit_row {
	const char *name;
	uint16_t mode;
	uint64_t chain[4];
	size_t n;
	bool dump;	     /* user registers and stack were dumped */
	uint64_t kern, user; /* first addresses; 0: none */
	bool hit;
	const char *extra; /* NULL: none */
};

static const struct hit_row hit_rows[] = {
	{ "an_empty_chain_has_the_kernel_address",
	  MODE_KERNEL,
	  { 0 },
	  0,
	  false,
	  0x99,
	  0,
	  true,
	  NULL },
	{ "an_empty_chain_has_the_user_address",
	  MODE_USER,
	  { 0 },
	  0,
	  false,
	  0,
	  0x99,
	  true,
	  NULL },
	{ "a_user_chain_of_a_kernel_hit_has_both",
	  MODE_KERNEL,
	  { USER, 0x20, 0x21 },
	  3,
	  false,
	  0x99,
	  0x20,
	  true,
	  NULL },
	{ "a_mark_alone_is_no_half",
	  MODE_USER,
	  { USER },
	  1,
	  false,
	  0,
	  0x99,
	  true,
	  NULL },
	{ "a_chain_with_the_half_stays",
	  MODE_KERNEL,
	  { KERNEL, 0x10 },
	  2,
	  false,
	  0x10,
	  0,
	  false,
	  "ip" },
	{ "a_deferred_half_comes_later",
	  MODE_USER,
	  { DEFERRED, 0x300000002 },
	  2,
	  false,
	  0,
	  0,
	  false,
	  NULL },
	{ "a_dumped_half_begins_with_the_registers",
	  MODE_USER,
	  { 0 },
	  0,
	  true,
	  0,
	  0,
	  false,
	  NULL },
	{ "a_dump_has_no_kernel_half",
	  MODE_KERNEL,
	  { 0 },
	  0,
	  true,
	  0x99,
	  0,
	  true,
	  NULL },
	{ "a_chain_without_a_mode_stays",
	  0,
	  { USER, 0x20 },
	  2,
	  false,
	  0,
	  0x20,
	  false,
	  "ip" },
};

static void fill_hit(struct pb *b, const struct hit_row *row)
{
	perf_sample_head(b, 0x99);
	pb_u64(b, row->n);
	for (size_t i = 0; i < row->n; i++)
		pb_u64(b, row->chain[i]);
	if (!row->dump)
		return;
	pb_u64(b, 2); /* registers */
	pb_u64(b, 0x51);
	pb_u64(b, 0x52);
	pb_u64(b, 0); /* stack */
}

static void look_hit(const struct record *rec, const struct hit_row *row)
{
	const struct rec_sample *s = &rec->sample;

	ck_assert_uint_eq(s->kern.n ? s->kern.ip[0] : 0, row->kern);
	ck_assert_uint_eq(s->user.n ? s->user.ip[0] : 0, row->user);
	ck_assert_int_eq(!!(rec->flags & REC_F_HIT), row->hit);
	ck_assert_uint_eq(s->n_extra, row->extra != NULL);
	if (row->extra)
		ck_assert_uint_eq(extra(s, row->extra)->value, 0x99);
}

static const struct hit_row *hit_row;

static void fill_hit_row(struct pb *b)
{
	fill_hit(b, hit_row);
}

static void look_hit_row(const struct record *rec)
{
	look_hit(rec, hit_row);
}

START_TEST(the_half_that_was_hit_is_never_empty)
{
	struct pb_event ev = chains;

	hit_row = &hit_rows[_i];
	if (hit_row->dump) {
		ev.sample_type |= PS_REGS_USER | PS_STACK_USER;
		ev.regs_user = 3;
	}
	one_sample(&ev, false, hit_row->mode, fill_hit_row, look_hit_row);
}
END_TEST

static void fill_read(struct pb *b)
{
	pb_u64(b, 7); /* id of the sample's event */
	perf_sample_head(b, 0x99);
	pb_u64(b, 3);
	for (uint64_t id = 7; id < 10; id++) {
		pb_u64(b, 100 * id);
		pb_u64(b, id);
	}
}

static void fill_read_one(struct pb *b)
{
	pb_u64(b, 7);
	perf_sample_head(b, 0x99);
	pb_u64(b, 700);
	pb_u64(b, 7);
}

/* A capture of two events in a group; ids 7 and 8 are known, 9 is not. cpus:
 * ID_INDEX says that they were opened on a CPU. */
static void read_sample(bool big, bool group, bool cpus, struct group_value *v,
			size_t n)
{
	struct pb_event ev[2] = {
		{ .attr_size = PB_ATTR,
		  .sample_type =
			  PS_IDENTIFIER | PS_IP | PS_TID | PS_TIME | PS_READ,
		  .read_format = group ? 4 | 8 : 4,
		  .flags = PA_SAMPLE_ID_ALL | PA_INHERIT,
		  .ids = { 7 },
		  .n_ids = 1 },
	};
	struct record rec;
	struct ref ref;
	struct pb b;

	ev[1] = ev[0];
	ev[1].ids[0] = 8;
	pb_begin(&b, big, ev, 2);
	pb_rec(&b, PR_ID_INDEX, 0);
	pb_u64(&b, 2);
	for (uint64_t id = 7; id < 9; id++) {
		pb_u64(&b, id);
		pb_u64(&b, 0);
		pb_u64(&b, 0);
		pb_u64(&b, cpus ? UINT64_MAX : 11);
	}
	pb_end(&b);
	pb_rec(&b, PR_SAMPLE, MODE_USER);
	(group ? fill_read : fill_read_one)(&b);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert(pb_next(src, &ref, &rec));
	ck_assert_uint_eq(rec.sample.n_member, n);
	ck_assert_int_eq(rec.sample.of_task, !cpus);
	memcpy(v, rec.sample.member, n * sizeof(*v));
	pb_close(src, &b);
}

START_TEST(a_read_has_the_values_of_known_events)
{
	struct group_value v[2];

	read_sample(_i, true, false, v, 2);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(v[i].event, i);
		ck_assert_uint_eq(v[i].id, 7 + i);
		ck_assert_uint_eq(v[i].value, 700 + 100 * i);
	}
	read_sample(_i, false, false, v, 1);
	ck_assert_uint_eq(v[0].event, 0);
	ck_assert_uint_eq(v[0].value, 700);
}
END_TEST

START_TEST(values_of_a_cpu_are_not_of_the_thread_that_it_ran)
{
	struct group_value v[2];

	read_sample(false, _i, true, v, _i ? 2 : 1);
}
END_TEST

static void fill_no_dump(struct pb *b)
{
	perf_sample_head(b, 0x99);
	pb_u64(b, 0); /* registers: none */
	pb_u64(b, 0); /* stack: none, and no size behind it */
	pb_u64(b, 17);
}

static void look_no_dump(const struct record *rec)
{
	ck_assert_uint_eq(rec->sample.user_regs.n, 0);
	ck_assert(!rec->sample.stack);
	ck_assert_uint_eq(extra(&rec->sample, "weight")->value, 17);
}

START_TEST(an_empty_stack_dump_has_no_size_behind_it)
{
	struct pb_event ev = chains;

	ev.sample_type = PS_IP | PS_TID | PS_TIME | PS_REGS_USER |
			 PS_STACK_USER | PS_WEIGHT;
	ev.regs_user = 3;
	one_sample(&ev, false, 2, fill_no_dump, look_no_dump);
}
END_TEST

/* Registers of an unknown kind, and more behind them. */
static void fill_new_registers(struct pb *b)
{
	perf_sample_head(b, 1);
	pb_u64(b, 2);
	pb_u64(b, USER);
	pb_u64(b, 0x51);
	pb_u64(b, 6);
	for (uint64_t i = 0; i < 9; i++)
		pb_u64(b, 0x1000 + i);
}

static void look_new_registers(const struct record *rec)
{
	ck_assert_uint_eq(rec->sample.user.n, 1);
	ck_assert_uint_eq(rec->sample.user.ip[0], 0x51);
	ck_assert_uint_eq(rec->sample.user_regs.n, 0);
	ck_assert_uint_eq(rec->sample.user_regs.abi, 0);
	ck_assert(!rec->sample.stack);
}

START_TEST(a_sample_is_whole_in_front_of_registers_of_an_unknown_kind)
{
	struct pb_event ev = chains;

	ev.sample_type |=
		_i ? PS_REGS_INTR | PS_PHYS_ADDR : PS_REGS_USER | PS_STACK_USER;
	ev.regs_user = ev.regs_intr = 3;
	one_sample(&ev, false, 2, fill_new_registers, look_new_registers);
}
END_TEST

/* The kind is in the last of these words. */
static void fill_wrong_registers(struct pb *b)
{
	perf_sample_head(b, 1);
	pb_u64(b, 0);
	pb_u64(b, 0x100);
}

static void fill_count(struct pb *b, uint64_t n)
{
	perf_sample_head(b, 1);
	pb_u64(b, n);
	pb_u64(b, KERNEL);
}

static void fill_count_3(struct pb *b)
{
	fill_count(b, 3);
}

static void fill_count_max(struct pb *b)
{
	fill_count(b, UINT64_MAX);
}

START_TEST(a_wrong_count_or_kind_is_refused_and_not_read)
{
	static void (*const fill[])(struct pb *) = { fill_count_3,
						     fill_count_max,
						     fill_wrong_registers };
	struct pb_event ev = chains;
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	struct pb b;

	if (_i == 2)
		ev.sample_type |= PS_REGS_USER;
	pb_begin(&b, false, &ev, 1);
	pb_rec(&b, PR_SAMPLE, 1);
	fill[_i](&b);
	pb_end(&b);
	pb_finish(&b);
	struct source *src = pb_open(&b, NULL);

	ck_assert_int_eq(src->ops->next(src, &ref, &err), 1);
	ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.msg, "needs"));
	ck_assert_uint_eq(rec.off, b.data);
	pb_close(src, &b);
}
END_TEST

static const struct run_table loops[] = {
	RUN_TIMES(every_field_is_at_its_place_in_both_byte_orders, 2),
	RUN_TIMES(the_cookie_is_no_address, 2),
	RUN_TIMES(parts_of_a_half_are_put_together, 2),
	RUN_TIMES(a_word_behind_the_mark_of_the_user_is_no_mark, 2),
	RUN_TIMES(an_lbr_call_stack_is_the_user_half, 2),
	RUN_TIMES(an_lbr_call_stack_begins_with_the_user_address_that_was_hit,
		  2),
	RUN_TIMES(the_half_that_was_hit_is_never_empty,
		  sizeof(hit_rows) / sizeof(*hit_rows)),
	RUN_TIMES(a_read_has_the_values_of_known_events, 2),
	RUN_TIMES(values_of_a_cpu_are_not_of_the_thread_that_it_ran, 2),
	RUN_TIMES(a_sample_is_whole_in_front_of_registers_of_an_unknown_kind,
		  2),
	RUN_TIMES(a_wrong_count_or_kind_is_refused_and_not_read, 3)
};

RUN_TABLES("perf_sample", loops, a_mark_without_cookie_is_told_apart,
	   a_chain_without_marks_goes_by_the_mode,
	   an_event_without_chain_gives_its_address,
	   an_empty_stack_dump_has_no_size_behind_it)
