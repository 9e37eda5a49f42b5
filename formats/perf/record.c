/* record.c - decodes the bytes of a kernel record into a struct record. */
#include <endian.h>
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* ---- decodes the bytes of a SAMPLE.
 *
 * The fields follow each other in the order of the kernel's header file; a
 * field is present if its bit is set in sample_type. Fields without a member in
 * struct record become extras. STREAM_ID is dropped, as it only names the event
 * again. */

/* A callchain entry of this value or above is a mark, not an address. */
#define CONTEXT_MIN ((uint64_t)-4095)
#define CONTEXT_HV ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_DEFERRED ((uint64_t)-640)
#define CONTEXT_GUEST ((uint64_t)-2048)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER ((uint64_t)-2560)

#define BRANCH_HW_INDEX ((uint64_t)1 << 17)
#define BRANCH_COUNTERS ((uint64_t)1 << 19)

/* The kind of registers: 1 is 32-bit, 2 is 64-bit; patches for Linux make it
 * bits, of which 4 means that more registers follow these. */
#define REGS_KIND_KNOWN 2
#define REGS_KIND_MAX 0xff

#define READ_KINDS 3 /* value, id, lost */

/* Add a number, or bytes that are valid as long as the record, to p->extra. */
static void perf_extra_add(struct perf *p, const char *name, uint64_t value)
{
	*mem_add(p->extra, p->n_extra, p->cap_extra) =
		(struct extra){ .name = name, .value = value };
}

static void perf_extra_blob(struct perf *p, const char *name, const void *blob,
			    size_t len)
{
	*mem_add(p->extra, p->n_extra, p->cap_extra) = (struct extra){
		.name = name, .blob = blob, .len = (uint32_t)len
	};
}

/* Adds words as a blob. Databases are read on other machines, so numbers in
 * blobs are little-endian. */
static void perf_sample_extra_words(struct perf *p, const char *name,
				    uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = htole64(v[i]);
	perf_extra_blob(p, name, v, n * sizeof(*v));
}

/* Takes n u64s into *v, which has room for *cap and grows. Returns 0, or -1 and
 * *err. */
static int perf_take_u64s(struct bytes *b, uint64_t n, uint64_t **v,
			  size_t *cap, struct err *err)
{
	if (n > bytes_left(b) / 8)
		return bytes_short(b, n > UINT64_MAX / 8 ? n : n * 8, err);
	mem_grow(*v, *cap, n);
	return bytes_u64s(b, *v, n, err);
}

/* Takes n addresses: borrows them from the file if they are aligned and in
 * order, otherwise copies them to p->ip. */
static int perf_take_addrs(struct perf *p, struct bytes *b, uint64_t n,
			   struct addrs *a, struct err *err)
{
	const uint64_t *there = bytes_u64s_there(b, n);

	if (!there && perf_take_u64s(b, n, &p->ip, &p->cap_ip, err))
		return -1;
	*a = (struct addrs){ .ip = there ? there : p->ip,
			     .n = (uint32_t)n,
			     .lasts = there && !p->stream &&
				      !p->src.info.compressed };
	return 0;
}

static int perf_sample_take_extra(struct perf *p, struct bytes *b,
				  const char *name, struct err *err)
{
	uint64_t v;

	if (bytes_u64(b, &v, err))
		return -1;
	perf_extra_add(p, name, v);
	return 0;
}

/* Returns a name such as "read.3.value", which lives as long as the source. */
static const char *perf_sample_read_name(struct perf *p, uint64_t member,
					 uint64_t kind)
{
	static const char *const kinds[READ_KINDS] = { "value", "id", "lost" };
	size_t at = member * READ_KINDS + kind;

	mem_grow(p->read_name, p->cap_read_name, at + 1);
	while (p->n_read_name <= at) {
		char name[48];
		size_t n = p->n_read_name++;

		snprintf(name, sizeof(name), "read.%zu.%s", n / READ_KINDS,
			 kinds[n % READ_KINDS]);
		p->read_name[n] = arena_strdup(&p->arena, name);
	}
	return p->read_name[at];
}

/* Adds a value of a group to p->member if its event is known. perf leaves the
 * others out as well. */
static void perf_sample_add_member(struct perf *p, uint64_t id, uint64_t value)
{
	const struct perf_id *known = perf_id_find(p, id);

	if (known && known->attr < p->n_attr)
		*mem_add(p->member, p->n_member, p->cap_member) =
			(struct group_value){ known->attr, id, value };
}

static int perf_sample_read_group(struct perf *p, uint64_t format,
				  struct bytes *b, struct err *err)
{
	uint64_t n;

	if (bytes_u64(b, &n, err) ||
	    ((format & READ_ENABLED) &&
	     perf_sample_take_extra(p, b, "read.enabled", err)) ||
	    ((format & READ_RUNNING) &&
	     perf_sample_take_extra(p, b, "read.running", err)))
		return -1;
	if (n > bytes_left(b) / 8)
		return bytes_short(b, n > UINT64_MAX / 8 ? n : n * 8, err);
	for (uint64_t i = 0; i < n; i++) {
		size_t at = p->n_extra;

		if (perf_sample_take_extra(p, b, perf_sample_read_name(p, i, 0),
					   err) ||
		    ((format & READ_ID) &&
		     perf_sample_take_extra(
			     p, b, perf_sample_read_name(p, i, 1), err)) ||
		    ((format & READ_LOST) &&
		     perf_sample_take_extra(
			     p, b, perf_sample_read_name(p, i, 2), err)))
			return -1;
		if (format & READ_ID)
			perf_sample_add_member(p, p->extra[at + 1].value,
					       p->extra[at].value);
	}
	return 0;
}

/* Takes READ, the values of counters, which become extras. What a counter has
 * counted since the last sample is what perf shows as the period
 * (deliver_sample_value() of perf 7.2). */
static int perf_sample_read_values(struct perf *p, uint64_t format,
				   struct bytes *b, struct err *err)
{
	p->n_member = 0;
	if (format & READ_GROUP)
		return perf_sample_read_group(p, format, b, err);
	size_t at = p->n_extra;

	if (perf_sample_take_extra(p, b, "read.value", err) ||
	    ((format & READ_ENABLED) &&
	     perf_sample_take_extra(p, b, "read.enabled", err)) ||
	    ((format & READ_RUNNING) &&
	     perf_sample_take_extra(p, b, "read.running", err)) ||
	    ((format & READ_ID) &&
	     perf_sample_take_extra(p, b, "read.id", err)))
		return -1;
	if (format & READ_ID)
		perf_sample_add_member(p, p->extra[p->n_extra - 1].value,
				       p->extra[at].value);
	return format & READ_LOST
		       ? perf_sample_take_extra(p, b, "read.lost", err)
		       : 0;
}

static int32_t perf_sample_peek_s32(const struct perf_rec *r, uint64_t at)
{
	uint32_t v = 0;

	bytes_peek_u32(&r->b, at, &v);
	return (int32_t)v;
}

/* The kernel or user half of a callchain. In nearly all samples it is one run
 * of the list; several runs are copied into one array. */
struct chain_half {
	const uint64_t *ip;
	uint32_t n;
	uint64_t **copy;
	size_t *cap;
};

static void perf_sample_add_run(struct chain_half *h, const uint64_t *ip,
				uint32_t n, uint32_t most)
{
	if (!n)
		return;
	if (!h->n) {
		h->ip = ip;
		h->n = n;
		return;
	}
	if (h->ip + h->n == ip) {
		h->n += n;
		return;
	}
	mem_grow(*h->copy, *h->cap, most);
	if (h->ip != *h->copy)
		memcpy(*h->copy, h->ip, h->n * sizeof(*ip));
	memcpy(*h->copy + h->n, ip, n * sizeof(*ip));
	h->ip = *h->copy;
	h->n += n;
}

/* Returns the half that was hit if the chain lacks it, or NULL. Without a mode,
 * as in old files, the address counts as the kernel's. */
static struct addrs *perf_sample_missing_half(struct record *rec)
{
	struct rec_sample *s = &rec->sample;
	struct addrs *half = rec->flags & REC_F_USER ? &s->user : &s->kern;

	if (half->n || (s->user.n && !(rec->flags & REC_F_KERNEL)))
		return NULL;
	return half;
}

static struct addrs perf_sample_half(const struct chain_half *h, bool lasts)
{
	return (struct addrs){ .ip = h->ip,
			       .n = h->n,
			       .lasts = lasts && h->ip != *h->copy };
}

/* Takes a callchain: splits the list into halves, without marks and cookie. */
static int perf_sample_callchain(struct perf *p, struct bytes *b,
				 struct record *rec, struct err *err)
{
	struct rec_sample *s = &rec->sample;
	struct chain_half kern = { .copy = &p->kern, .cap = &p->cap_kern };
	struct chain_half user = { .copy = &p->user, .cap = &p->cap_user };
	/* old kernels write no mark: the CPU's mode decides */
	struct chain_half *now = rec->flags & REC_F_USER ? &user : &kern;
	struct addrs all;
	uint64_t len;

	if (bytes_u64(b, &len, err) || perf_take_addrs(p, b, len, &all, err))
		return -1;
	const uint64_t *ip = all.ip;
	uint32_t n = all.n;
	uint32_t start = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = ip[i];

		if (__builtin_expect(v < CONTEXT_MIN, 1))
			continue;
		perf_sample_add_run(now, ip + start, i - start, n);
		start = i + 1;
		/* Linux puts the user half last. A word like a mark after that
		 * is from a walk along a register that is no frame pointer: it
		 * neither begins another half nor requests one. */
		if (s->defer == DEFER_DIRECT)
			continue;
		switch (v) {
		case CONTEXT_HV:
		case CONTEXT_KERNEL:
			now = &kern;
			break;
		case CONTEXT_USER:
			s->defer = DEFER_DIRECT;
			now = &user;
			break;
		case CONTEXT_GUEST_KERNEL:
			rec->flags |= REC_F_GUEST;
			now = &kern;
			break;
		case CONTEXT_GUEST_USER:
			rec->flags |= REC_F_GUEST;
			now = &user;
			break;
		case CONTEXT_GUEST:
			rec->flags |= REC_F_GUEST;
			break;
		case CONTEXT_DEFERRED:
			/* if there was no room for the cookie, the mark is
			 * last */
			s->defer = i + 1 < n ? DEFER_COOKIE : DEFER_MARK;
			if (i + 1 < n)
				s->cookie = ip[i + 1];
			start = ++i + 1;
			break;
		default:
			break;
		}
	}
	if (start < n)
		perf_sample_add_run(now, ip + start, n - start, n);
	if (user.n && s->defer == DEFER_NONE)
		s->defer = DEFER_DIRECT;
	s->kern = perf_sample_half(&kern, all.lasts);
	s->user = perf_sample_half(&user, all.lasts);
	const struct addrs *first = s->kern.n ? &s->kern : &s->user;

	if (first->n && s->ip && first->ip[0] != s->ip &&
	    !perf_sample_missing_half(rec))
		perf_extra_add(p, "ip", s->ip);
	return 0;
}

/* Returns the bit-fields of a branch, which on a big-endian machine start at
 * the most significant bit, in little-endian order. Widths: mispred, predicted,
 * in_tx, tx_abort 1 each, cycles 16, type 4, spec 2, new_type 4, priv 3. */
static uint64_t perf_sample_branch_flags(const struct perf *p, uint64_t x)
{
	static const uint8_t width[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	uint64_t y = 0;
	int at = 0;

	if (!p->src.info.big_endian)
		return x;
	for (size_t i = 0; i < sizeof(width); i++) {
		uint64_t mask = ((uint64_t)1 << width[i]) - 1;

		y |= (x >> (64 - at - width[i]) & mask) << at;
		at += width[i];
	}
	return y;
}

static int perf_sample_branches(struct perf *p, const struct perf_attr *a,
				struct bytes *b, struct rec_sample *s,
				struct err *err)
{
	uint64_t n;

	if (bytes_u64(b, &n, err) ||
	    ((a->branch_type & BRANCH_HW_INDEX) &&
	     perf_sample_take_extra(p, b, "hw_idx", err)))
		return -1;
	if (n > bytes_left(b) / 24)
		return bytes_short(b, n > UINT64_MAX / 24 ? n : n * 24, err);
	mem_grow(p->branch, p->cap_branch, n);
	for (uint64_t i = 0; i < n; i++) {
		struct branch *br = &p->branch[i];

		if (bytes_u64(b, &br->from, err) ||
		    bytes_u64(b, &br->to, err) || bytes_u64(b, &br->flags, err))
			return -1;
		br->flags = perf_sample_branch_flags(p, br->flags);
	}
	s->branch = p->branch;
	s->n_branch = (uint32_t)n;
	if (n && (a->branch_type & BRANCH_COUNTERS)) {
		if (perf_take_u64s(b, n, &p->counter, &p->cap_counter, err))
			return -1;
		perf_sample_extra_words(p, "branch_counters", p->counter, n);
	}
	return 0;
}

/* Takes registers. Returns 0; -1 and *err; or 1 if the kind has more registers
 * after the words of the mask: their end is unknown, so the rest of the record
 * is lost. */
static int perf_sample_registers(struct bytes *b, uint64_t mask, uint64_t **v,
				 size_t *cap, struct regs *out, struct err *err)
{
	uint32_t n = (uint32_t)__builtin_popcountll(mask);
	uint64_t abi;

	if (bytes_u64(b, &abi, err))
		return -1;
	if (abi > REGS_KIND_MAX)
		return err_at(err, b->path, bytes_off(b) - 8,
			      "registers of kind 0x%" PRIx64
			      ", needs at most 0x%x",
			      abi, REGS_KIND_MAX);
	if (abi > REGS_KIND_KNOWN)
		return 1;
	out->abi = (uint32_t)abi;
	if (!abi)
		return 0;
	if (perf_take_u64s(b, n, v, cap, err))
		return -1;
	out->v = *v;
	out->n = n;
	out->mask = mask;
	return 0;
}

/* Makes the half that was hit from the sampled address, if the chain lacks it:
 * it was not requested (--kernel-callchains, --user-callchains), or the kernel
 * could not take it (a guest). A deferred user half comes later, and that of a
 * stack dump begins with the registers: for a hit in a guest it is the stack of
 * the program that runs the guest, on which the guest's address is put. */
static void perf_sample_add_hit(struct perf *p, struct record *rec)
{
	struct rec_sample *s = &rec->sample;
	struct addrs *half = perf_sample_missing_half(rec);

	if (!half || !s->ip || rec->flags & REC_F_NO_CHAIN)
		return;
	if (half == &s->user &&
	    (s->defer == DEFER_COOKIE || s->defer == DEFER_MARK ||
	     (s->has_dump && s->user_regs.abi))) {
		if (!(rec->flags & REC_F_GUEST) || s->kern.n)
			return;
		half = &s->kern;
	}
	p->hit = s->ip;
	*half = (struct addrs){ .ip = &p->hit, .n = 1 };
	if (!(rec->flags & REC_F_GUEST))
		rec->flags |= REC_F_HIT;
}

/* Takes all fields from the registers on; of AUX data, which is not decoded,
 * the size. Returns 0; -1 and *err; or 1 if fields after registers are lost. */
static int perf_sample_last_part(struct perf *p, const struct perf_attr *a,
				 struct bytes *b, struct rec_sample *s,
				 struct err *err)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} numbers[] = {
		{ PS_PHYS_ADDR, "phys_addr" },
		{ PS_CGROUP, "cgroup" },
		{ PS_DATA_PAGE, "data_page_size" },
		{ PS_CODE_PAGE, "code_page_size" },
	};
	uint64_t t = a->sample_type;
	uint64_t aux;
	int rc = 0;

	s->has_dump = t & PS_STACK_USER;
	if (t & PS_REGS_USER)
		rc = perf_sample_registers(b, a->regs_user, &p->regs,
					   &p->cap_regs, &s->user_regs, err);
	if (rc)
		return rc;
	if (t & PS_STACK_USER) {
		/* its size, the bytes, and how many of them are valid; after
		 * size 0 neither follows */
		struct bytes data;
		uint64_t size, dyn;

		if (bytes_u64(b, &size, err) ||
		    (size && (bytes_take(b, size, &data, err) ||
			      bytes_u64(b, &dyn, err))))
			return -1;
		if (size) {
			s->stack = data.pos;
			s->stack_len = (uint32_t)(dyn < size ? dyn : size);
			s->unread = dyn < size;
		}
	}
	if ((t & PS_WEIGHT) && perf_sample_take_extra(p, b, "weight", err))
		return -1;
	if (!(t & PS_WEIGHT) && (t & PS_WEIGHT_STRUCT)) {
		uint32_t w1;
		uint16_t w2, w3;

		/* {u32, u16, u16}, which the kernel declares in reverse order
		 * on big-endian machines */
		if (p->src.info.big_endian) {
			if (bytes_u16(b, &w3, err) || bytes_u16(b, &w2, err) ||
			    bytes_u32(b, &w1, err))
				return -1;
		} else if (bytes_u32(b, &w1, err) || bytes_u16(b, &w2, err) ||
			   bytes_u16(b, &w3, err)) {
			return -1;
		}
		perf_extra_add(p, "weight", w1);
		perf_extra_add(p, "weight2", w2);
		perf_extra_add(p, "weight3", w3);
	}
	if ((t & PS_DATA_SRC) && perf_sample_take_extra(p, b, "data_src", err))
		return -1;
	if ((t & PS_TRANSACTION) &&
	    perf_sample_take_extra(p, b, "transaction", err))
		return -1;
	if (t & PS_REGS_INTR) {
		struct regs regs = { 0 };

		rc = perf_sample_registers(b, a->regs_intr, &p->intr,
					   &p->cap_intr, &regs, err);
		if (rc)
			return rc;
		if (regs.abi) {
			perf_sample_extra_words(p, "intr_regs", p->intr,
						regs.n);
			perf_extra_add(p, "intr_regs_mask", regs.mask);
			perf_extra_add(p, "intr_regs_abi", regs.abi);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if ((t & numbers[i].bit) &&
		    perf_sample_take_extra(p, b, numbers[i].name, err))
			return -1;
	if (t & PS_AUX) {
		if (bytes_u64(b, &aux, err) || bytes_skip(b, aux, err))
			return -1;
		perf_extra_add(p, "aux_size", aux);
	}
	/* fields of a later version may follow the last known one */
	return t >= PS_UNKNOWN ? 0 : rest_end(b, err);
}

/* Takes what perf record --off-cpu puts in RAW since Linux 6.16 (off_cpu_dump()
 * of util/bpf_skel/off_cpu.bpf.c): u32 ids of thread and process; u64 ns off
 * the CPU; a callchain; u64 cgroup. The sample of one long wait is written when
 * another thread leaves the CPU; the other fields have the ids, address and
 * cgroup of that thread. A sum of short waits has no time, and its two ids are
 * swapped. */
static int perf_sample_off_cpu(struct perf *p, const struct perf_rec *r,
			       struct record *rec, struct err *err)
{
	struct rec_sample *s = &rec->sample;
	bool sum = rec->flags & REC_F_UNTIMED;
	struct bytes raw;
	uint64_t cgroup;

	bytes_init(&raw, s->raw, s->raw_len, r->b.path, r->off, r->b.swap);
	rec->flags &= ~(uint32_t)(REC_F_KERNEL | REC_F_GUEST | REC_F_NO_CHAIN);
	rec->flags |= REC_F_USER;
	s->ip = 0;
	s->defer = DEFER_NONE;
	if (sum)
		rec->cpu = -1;
	if (bytes_i32(&raw, sum ? &rec->pid : &rec->tid, err) ||
	    bytes_i32(&raw, sum ? &rec->tid : &rec->pid, err) ||
	    bytes_u64(&raw, &s->weight, err) ||
	    perf_sample_callchain(p, &raw, rec, err) ||
	    bytes_u64(&raw, &cgroup, err) || rest_padding(&raw, 7, err))
		return -1;
	if (!cgroup)
		return 0;
	/* the sample may have the other thread's cgroup already */
	for (size_t i = 0; i < p->n_extra; i++)
		if (!strcmp(p->extra[i].name, "cgroup")) {
			p->extra[i].value = cgroup;
			return 0;
		}
	perf_extra_add(p, "cgroup", cgroup);
	return 0;
}

static int perf_sample_decode(struct perf *p, const struct perf_attr *a,
			      const struct perf_rec *r, struct record *rec,
			      struct err *err)
{
	struct rec_sample *s = &rec->sample;
	uint64_t t = a->sample_type;
	struct bytes b;

	/* Not a copy of r->b, whose members were just written: the processor
	 * would stall if it copied two of them with one load. Measured: 18 ns
	 * for each sample. */
	bytes_init(&b, r->b.pos, bytes_left(&r->b), r->b.path, r->off,
		   r->b.swap);
	rec->kind = REC_SAMPLE;
	switch (r->misc & PM_CPUMODE) {
	case PM_KERNEL:
	case PM_HYPERVISOR:
		rec->flags |= REC_F_KERNEL;
		break;
	case PM_USER:
		rec->flags |= REC_F_USER;
		break;
	case PM_GUEST_KERNEL:
		rec->flags |= REC_F_KERNEL | REC_F_GUEST;
		break;
	case PM_GUEST_USER:
		rec->flags |= REC_F_USER | REC_F_GUEST;
		break;
	default:
		break;
	}
	s->event = (uint32_t)(a - p->attr);
	p->n_extra = 0;
	/* skip the fields before READ, whose offsets are in *a */
	uint64_t addr = 0;

	if (bytes_skip(&b, a->s_end, err))
		return -1;
	if (a->s_ip)
		bytes_peek_u64(&r->b, a->s_ip, &s->ip);
	if (a->s_tid) {
		rec->pid = perf_sample_peek_s32(r, a->s_tid);
		rec->tid = perf_sample_peek_s32(r, a->s_tid + 4u);
	}
	if (a->s_cpu)
		rec->cpu = perf_sample_peek_s32(r, a->s_cpu);
	if (a->s_addr && !bytes_peek_u64(&r->b, a->s_addr, &addr))
		perf_extra_add(p, "addr", addr);
	s->weight = 1;
	if (a->s_period)
		bytes_peek_u64(&r->b, a->s_period, &s->weight);
	else if (!(a->flags & PA_FREQ) && a->period)
		s->weight = a->period;
	/* A precise event (PEBS) has the address of the instruction, but the
	 * mode of the interrupt that came later: Linux 3.11 to 4.16 write a
	 * program's address with the kernel's mode. The address is right. */
	if ((a->flags & PA_PRECISE) && (rec->flags & REC_F_KERNEL) &&
	    !(rec->flags & REC_F_GUEST) && s->ip &&
	    s->ip < p->halves.user_end) {
		rec->flags =
			(rec->flags & ~(uint32_t)REC_F_KERNEL) | REC_F_USER;
		perf_note_event(p, s->event, NOTED_MODE);
	}
	if (t & PS_READ) {
		if (perf_sample_read_values(p, a->read_format, &b, err))
			return -1;
		s->member = p->member;
		s->n_member = (uint32_t)p->n_member;
		/* Since Linux 6.13 groups can be inherited; the values are of
		 * one task then, with the same ids for all tasks. perf
		 * before 6.13 sets the flag for counters of CPUs too, which
		 * nothing inherits. */
		s->of_task = a->flags & PA_INHERIT && a->sample_type & PS_TID &&
			     !(p->n_member &&
			       perf_id_find(p, p->member[0].id)->tid == -1);
	}
	if (!(t & PS_CALLCHAIN)) {
		/* An event without callchains gets a chain of the sampled
		 * address, which may be 0. */
		rec->flags |= REC_F_NO_CHAIN;
		if (a->s_ip) {
			const bool user = rec->flags & REC_F_USER;

			mem_grow(p->ip, p->cap_ip, 1);
			p->ip[0] = s->ip;
			*(user ? &s->user : &s->kern) =
				(struct addrs){ .ip = p->ip, .n = 1 };
			s->defer = user ? DEFER_DIRECT : s->defer;
		}
	} else if (perf_sample_callchain(p, &b, rec, err))
		return -1;
	if (t & PS_RAW) {
		struct bytes data;
		uint32_t n;

		if (bytes_u32(&b, &n, err) || bytes_take(&b, n, &data, err))
			return -1;
		s->raw = data.pos;
		s->raw_len = n;
	}
	if (a->sched)
		perf_trace_sample(p, s);
	if ((t & PS_BRANCH) && perf_sample_branches(p, a, &b, s, err))
		return -1;
	if (a->lbr && s->defer == DEFER_DIRECT && s->n_branch) {
		/* --call-graph lbr: the calls that the processor recorded
		 * replace a user half with a USER mark: the innermost address,
		 * then the source of each entry. The innermost address is the
		 * sampled one or, if the kernel was hit, the target of the
		 * newest entry. perf 6.1 always takes that target, which is the
		 * start of a function; perf 7.2 always takes the sampled
		 * address, even one of the kernel. */
		mem_grow(p->part, p->cap_part, s->n_branch + 1u);
		p->part[0] = rec->flags & REC_F_USER && s->ip ? s->ip
							      : s->branch[0].to;
		for (uint32_t i = 0; i < s->n_branch; i++)
			p->part[i + 1] = s->branch[i].from;
		s->user = (struct addrs){ .ip = p->part, .n = s->n_branch + 1 };
		rec->flags |= REC_F_LBR;
	} else if (!a->lbr && p->converted && !(t & PS_STACK_USER) &&
		   s->defer == DEFER_DIRECT && s->user.n &&
		   !(rec->flags & REC_F_GUEST))
		rec->flags |= REC_F_CONVERTED;
	int rc = perf_sample_last_part(p, a, &b, s, err);

	if (rc < 0)
		return -1;
	if (rc)
		perf_note_event(p, s->event, NOTED_REGISTERS);
	perf_sample_add_hit(p, rec);
	if (a->off_cpu && (t & PS_RAW) && perf_sample_off_cpu(p, r, rec, err))
		return -1;
	s->extra = p->extra;
	s->n_extra = (uint32_t)p->n_extra;
	return 0;
}

/* Takes the string at the end of the record, padded to 8 bytes. Returns 0, or
 * -1 and *err. */
static int perf_record_take_name(struct bytes *b, const char **out,
				 struct err *err)
{
	if (bytes_str(b, out, err) || rest_padding(b, 7, err))
		return -1;
	b->pos = b->end;
	return 0;
}

static int perf_record_set_mark(struct perf *p, struct record *rec,
				const char *name)
{
	rec->kind = REC_MARK;
	rec->mark.name = name;
	rec->mark.event = 0;
	rec->mark.extra = p->extra;
	rec->mark.n_extra = (uint32_t)p->n_extra;
	return 0;
}

static int32_t perf_record_event_index(struct perf *p,
				       const struct perf_attr *a)
{
	return a ? (int32_t)(a - p->attr) : -1;
}

static int perf_record_take_pids(struct bytes *b, struct record *rec,
				 struct err *err)
{
	return bytes_i32(b, &rec->pid, err) ?: bytes_i32(b, &rec->tid, err);
}

/* Returns whether the 24 bytes are a device and an inode although bit 14 says
 * build-id. Linux since 5.12 (88a16a130933; measured on 6.18) prepares the
 * header of a mapping once for all its recorders: one that asks for the
 * build-id sets bit 14, and the next ones have it too, above a device and an
 * inode. perf inject adds build-ids that no event asks for. So it is true if
 * none was asked for, the bytes begin like a device (12 and 20 bits), and are
 * no build-id: too short, too long, not followed by zeros, or as short as some
 * are and with the minor number of a disk. */
static bool perf_record_is_device(const struct perf *p, const struct bytes *b)
{
	struct bytes rest = *b;
	struct bytes id;
	uint32_t maj, min;

	if (p->asks_build_ids || bytes_u32(&rest, &maj, NULL) ||
	    bytes_peek_u32(&rest, 0, &min) ||
	    bytes_take(&rest, 20, &id, NULL) || maj >> 12 || min >> 20)
		return false;
	return p->src.info.big_endian || !maj || maj > 20 ||
	       (maj < 16 && min < 4096) || perf_check_build_id(&id, maj, NULL);
}

static int perf_record_map(const struct perf *p, struct bytes *b,
			   const struct perf_rec *r, struct record *rec,
			   struct err *err)
{
	struct rec_map *m = &rec->map;
	uint16_t misc = r->misc;
	uint32_t mode = misc & PM_CPUMODE;

	rec->kind = REC_MAP;
	if (misc & PM_BIT13)
		rec->flags |= REC_F_DATA;

	if (mode == PM_KERNEL || mode == PM_GUEST_KERNEL)
		rec->flags |= REC_F_KERNEL;
	if (mode == PM_GUEST_KERNEL || mode == PM_GUEST_USER)
		rec->flags |= REC_F_GUEST;
	if (perf_record_take_pids(b, rec, err) ||
	    bytes_u64(b, &m->start, err) || bytes_u64(b, &m->len, err) ||
	    bytes_u64(b, &m->pgoff, err))
		return -1;
	if (r->type == PR_MMAP2) {
		/* 24 bytes: a device and an inode, or a build-id; with bit 12,
		 * those of an earlier mapping */
		if (misc & PM_BIT12) {
			rec->flags |= REC_F_MAPS_END;
			if (bytes_skip(b, 24, err))
				return -1;
		} else if (!(misc & PM_BIT14) || perf_record_is_device(p, b)) {
			if (bytes_u32(b, &m->maj, err) ||
			    bytes_u32(b, &m->min, err) ||
			    bytes_u64(b, &m->ino, err) ||
			    bytes_u64(b, &m->ino_gen, err))
				return -1;
		} else {
			struct bytes id;

			if (bytes_u8(b, &m->id_len, err) ||
			    bytes_skip(b, 3, err) ||
			    bytes_take(b, 20, &id, err) ||
			    perf_check_build_id(&id, m->id_len, err))
				return -1;
			rec->flags |= REC_F_BUILD_ID;
			m->id = m->id_len ? id.pos : NULL;
		}
		/* Linux 3.12 to 3.15, and RHEL 7 with 3.10, have no prot and
		 * flags; the name is in their place. */
		/* prot has a small number
		 * in its lowest byte and 0 in the next or, from perf inject
		 * --jit, a file's mode, whose second byte is 0x81. */
		unsigned char c[2];
		if ((bytes_peek(b, 0, c, 2) || c[0] <= ' ' || c[0] > '~' ||
		     ((c[1] <= ' ' || c[1] > '~') &&
		      (c[0] != '/' || c[1] <= 0x81))) &&
		    (bytes_u32(b, &m->prot, err) ||
		     bytes_u32(b, &m->flags, err)))
			return -1;
	}
	return perf_record_take_name(b, &m->path, err);
}

/* Takes a mark that consists of u64s; `names` has their names in order. */
static int perf_record_numbers_mark(struct perf *p, struct bytes *b,
				    struct record *rec, const char *mark,
				    const char *const *names, struct err *err)
{
	uint64_t v;

	for (; *names; names++) {
		if (bytes_u64(b, &v, err))
			return -1;
		perf_extra_add(p, *names, v);
	}
	return perf_record_set_mark(p, rec, mark);
}

static int perf_record_mark(struct perf *p, const struct perf_attr *a,
			    const struct perf_rec *r, struct bytes *b,
			    struct record *rec, struct err *err)
{
	static const char *const aux[] = { "offset", "size", "flags", NULL };
	static const char *const hw[] = { "hw_id", NULL };
	static const char *const throttle[] = { "at", "id", "stream_id", NULL };

	p->n_extra = 0;
	switch (r->type) {
	case PR_THROTTLE:
	case PR_UNTHROTTLE: {
		/* The id names the event as it was opened; stream_id names the
		 * copy that a child inherited, which is in no table of ids. */
		if (perf_record_numbers_mark(
			    p, b, rec,
			    r->type == PR_THROTTLE ? "throttle" : "unthrottle",
			    throttle, err))
			return -1;
		const struct perf_id *id = perf_id_find(p, p->extra[1].value);

		if (id && id->attr < p->n_attr)
			rec->mark.event = id->attr + 1;
		return 0;
	}
	case PR_READ:
		/* the counter values at the end of its thread are not used */
		if (perf_record_take_pids(b, rec, err) ||
		    perf_sample_read_values(p, a->read_format, b, err))
			return -1;
		p->n_extra = 0;
		return perf_record_set_mark(p, rec, "read");
	case PR_AUX:
		return perf_record_numbers_mark(p, b, rec, "aux", aux, err);
	case PR_ITRACE_START:
		return perf_record_take_pids(b, rec, err)
			       ? -1
			       : perf_record_set_mark(p, rec, "itrace_start");
	case PR_NAMESPACES: {
		static const char *const names[7][2] = {
			{ "net.dev", "net.ino" },
			{ "uts.dev", "uts.ino" },
			{ "ipc.dev", "ipc.ino" },
			{ "pid.dev", "pid.ino" },
			{ "user.dev", "user.ino" },
			{ "mnt.dev", "mnt.ino" },
			{ "cgroup.dev", "cgroup.ino" },
		};
		uint64_t n, v;

		if (perf_record_take_pids(b, rec, err) || bytes_u64(b, &n, err))
			return -1;
		for (uint64_t i = 0; i < n; i++)
			for (int j = 0; j < 2; j++) {
				if (bytes_u64(b, &v, err))
					return -1;
				if (i < 7)
					perf_extra_add(p, names[i][j], v);
			}
		return perf_record_set_mark(p, rec, "namespaces");
	}
	case PR_BPF_EVENT: {
		uint16_t type, flags;
		struct bytes tag;
		uint32_t id;

		if (bytes_u16(b, &type, err) || bytes_u16(b, &flags, err) ||
		    bytes_u32(b, &id, err) || bytes_take(b, 8, &tag, err))
			return -1;
		perf_extra_add(p, "type", type);
		perf_extra_add(p, "flags", flags);
		perf_extra_add(p, "id", id);
		perf_extra_blob(p, "tag", tag.pos, 8);
		return perf_record_set_mark(p, rec, "bpf");
	}
	case PR_CGROUP: {
		const char *path;
		uint64_t id;

		if (bytes_u64(b, &id, err) ||
		    perf_record_take_name(b, &path, err))
			return -1;
		perf_extra_add(p, "id", id);
		perf_extra_blob(p, "path", path, strlen(path));
		return perf_record_set_mark(p, rec, "cgroup");
	}
	case PR_TEXT_POKE: {
		uint16_t n_old, n_new;
		struct bytes was, now;
		uint64_t addr;

		if (bytes_u64(b, &addr, err) || bytes_u16(b, &n_old, err) ||
		    bytes_u16(b, &n_new, err) ||
		    bytes_take(b, n_old, &was, err) ||
		    bytes_take(b, n_new, &now, err) || rest_padding(b, 7, err))
			return -1;
		b->pos = b->end;
		perf_extra_add(p, "addr", addr);
		perf_extra_blob(p, "old", was.pos, n_old);
		perf_extra_blob(p, "new", now.pos, n_new);
		return perf_record_set_mark(p, rec, "text_poke");
	}
	case PR_AUX_OUTPUT_HW_ID:
		return perf_record_numbers_mark(p, b, rec, "aux_hw_id", hw,
						err);
	default:
		return 0;
	}
}

static int perf_record_decode_body(struct perf *p, const struct perf_attr *a,
				   const struct perf_rec *r, struct bytes *b,
				   bool untimed, struct record *rec,
				   struct err *err)
{
	switch (r->type) {
	case PR_MMAP:
	case PR_MMAP2:
		return perf_record_map(p, b, r, rec, err);
	case PR_COMM:
		rec->kind = REC_COMM;
		if (r->misc & PM_BIT13)
			rec->flags |= REC_F_EXEC;
		return perf_record_take_pids(b, rec, err)
			       ?: perf_record_take_name(b, &rec->comm.name,
							err);
	case PR_FORK:
	case PR_EXIT:
		rec->kind = r->type == PR_FORK ? REC_FORK : REC_EXIT;
		/* perf synthesized it; the file has the maps of the child */
		if (r->type == PR_FORK && (r->misc & PM_BIT13))
			rec->flags |= REC_F_SYNTH;
		return bytes_i32(b, &rec->pid, err)
			       ?: bytes_i32(b, &rec->fork.ppid, err)
			       ?: bytes_i32(b, &rec->tid, err)
			       ?: bytes_i32(b, &rec->fork.ptid, err)
			       ?: bytes_skip(b, 8, err) /* skip a time */;
	case PR_LOST: {
		uint64_t id;

		rec->kind = REC_LOST;
		if (bytes_u64(b, &id, err) || bytes_u64(b, &rec->lost.n, err))
			return -1;
		struct perf_id *known = perf_id_find(p, id);

		rec->lost.event = known ? (int32_t)known->attr
					: perf_record_event_index(p, a);
		return 0;
	}
	case PR_LOST_SAMPLES: {
		/* With a time, the record counts samples that the processor
		 * lost. Without, at the end of the file, it is a total that
		 * perf read from the kernel, for one event on one CPU (by
		 * ID_INDEX). */
		uint64_t id = 0;

		rec->kind = untimed ? REC_LOST_TOTAL : REC_LOST;
		rec->lost.event = perf_record_event_index(p, a);
		if (bytes_u64(b, &rec->lost.n, err))
			return -1;
		if (!untimed) {
			rec->flags |= REC_F_HARDWARE;
			return 0;
		}
		rec->time = 0;
		rec->cpu = rec->pid = rec->tid = -1;
		if (r->misc & PM_BIT15)
			rec->flags |= REC_F_FILTERED;
		if (a->t_id)
			bytes_peek_u64(&r->b, r->size - a->t_id, &id);
		struct perf_id *known = perf_id_find(p, id);

		if (known) {
			rec->lost.event = (int32_t)known->attr;
			rec->cpu = known->cpu >= 0 ? known->cpu : -1;
		} else if (p->n_attr > 1) {
			rec->lost.event = -1;
		}
		return 0;
	}
	case PR_SWITCH:
	case PR_SWITCH_CPU_WIDE:
		rec->kind = REC_SWITCH;
		rec->sw.other_pid = rec->sw.other_tid = -1;
		if (r->misc & PM_BIT13)
			rec->flags |= REC_F_OUT;
		if (r->misc & PM_BIT14)
			rec->flags |= REC_F_PREEMPT;
		if (r->type == PR_SWITCH)
			return 0;
		return bytes_i32(b, &rec->sw.other_pid, err)
			       ?: bytes_i32(b, &rec->sw.other_tid, err);
	case PR_KSYMBOL: {
		uint16_t flags;

		rec->kind = REC_KSYMBOL;
		if (bytes_u64(b, &rec->ksymbol.addr, err) ||
		    bytes_u32(b, &rec->ksymbol.len, err) ||
		    bytes_u16(b, &rec->ksymbol.type, err) ||
		    bytes_u16(b, &flags, err))
			return -1;
		if (flags & 1)
			rec->flags |= REC_F_GONE;
		rec->flags |= REC_F_KERNEL;
		if (perf_record_take_name(b, &rec->ksymbol.name, err))
			return -1;
		rec->ksymbol.code = perf_bpf_find(p, &rec->ksymbol);
		return 0;
	}
	case PR_CALLCHAIN_DEFERRED: {
		uint64_t n;

		rec->kind = REC_CHAIN;
		return bytes_u64(b, &rec->chain.cookie, err)
			       ?: bytes_u64(b, &n, err)
			       ?: perf_take_addrs(p, b, n, &rec->chain.user,
						  err);
	}
	default:
		return perf_record_mark(p, a, r, b, rec, err);
	}
}

int perf_record_decode_other(struct perf *p, const struct perf_attr *a,
			     const struct perf_rec *r, bool untimed,
			     struct record *rec, struct err *err)
{
	struct bytes b = r->b;
	uint32_t v = 0;

	/* all records but samples have a trailer with thread and CPU */
	if (r->size < 8 + a->t_size)
		return bytes_short(&r->b, 8 + a->t_size, err);
	b.end -= a->t_size;
	if (a->t_tid) {
		bytes_peek_u32(&r->b, r->size - a->t_tid, &v);
		rec->pid = (int32_t)v;
		bytes_peek_u32(&r->b, r->size - a->t_tid + 4u, &v);
		rec->tid = rec->by = (int32_t)v;
	}
	if (a->t_cpu) {
		bytes_peek_u32(&r->b, r->size - a->t_cpu, &v);
		rec->cpu = (int32_t)v;
	}
	if (bytes_skip(&b, 8, err))
		return -1;

	return perf_record_decode_body(p, a, r, &b, untimed, rec, err)
		       ?: rest_end(&b, err)
		       ?: perf_check_record(p, r, rec, err);
}

int perf_record_decode(struct source *src, const struct ref *ref,
		       struct record *rec, struct err *err)
{
	struct perf *p = perf_of(src);
	struct perf_rec r;

	memset(rec, 0, sizeof(*rec));
	rec->source = src->index;
	rec->pid = rec->tid = rec->cpu = -1;
	rec->time = ref->key;
	if (perf_walk_find(p, ref, &r, err))
		return -1;
	rec->off = r.off;
	if (ref->untimed)
		rec->flags |= REC_F_UNTIMED;
	const struct perf_attr *a = perf_attr_of_record(p, &r);

	if (!a) {
		/* otherwise perf_ref_make() has noted it */
		if (p->same_time)
			perf_damage_id(p, &r);
		return 0;
	}
	if (r.type == PR_SAMPLE)
		return perf_sample_decode(p, a, &r, rec, err)
			       ? -1
			       : perf_check_record(p, &r, rec, err);
	if (ref->untimed && src->info.has_time && r.type != PR_LOST_SAMPLES)
		rec->flags |= REC_F_SYNTH;
	return perf_record_decode_other(p, a, &r, ref->untimed, rec, err);
}
