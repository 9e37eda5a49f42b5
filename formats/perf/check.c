/* check.c - values that no recorder can have written: damage, not facts.
 *
 * What may stand there is left alone: a user stack that was walked by frame
 * pointers has any number as a return address, and a clock that is set may
 * jump. */
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "formats/reader/rest.h"
#include "stitch/base/err.h"

int perf_check_build_id(const struct bytes *id, unsigned int n, struct err *err)
{
	struct bytes rest = *id;

	if (n > bytes_left(id))
		return err_at(err, id->path, bytes_off(id),
			      "build-id of %u bytes, needs at most %zu", n,
			      bytes_left(id));
	bytes_skip(&rest, n, NULL);
	return rest_zeros(&rest, err);
}

/* Whoever starts a machine without a battery sets these clocks by years. */
static bool perf_check_clock_is_set(const struct perf *p)
{
	enum clock_id clock = p->src.info.clock_id;

	return clock == CLOCK_ID_REAL || clock == CLOCK_ID_TAI;
}

bool perf_check_time_is_far(const struct perf *p, struct perf_file *f,
			    uint64_t time)
{
	return !perf_check_clock_is_set(p) && near_time_is_far(&f->near, time);
}

void perf_check_times_are_near(const struct perf *p, struct perf_file *f,
			       uint64_t last, uint64_t n)
{
	if (!perf_check_clock_is_set(p))
		near_time_add(&f->near, last, n);
}

static int perf_check_thread(const struct perf_rec *r, int32_t id,
			     struct err *err)
{
	if (thread_id_can_be(id))
		return 0;
	return err_at(err, r->b.path, r->off,
		      "thread or process id %" PRId32 ", needs -1 to %d", id,
		      THREAD_ID_MAX);
}

static int perf_check_cpu(const struct perf *p, const struct perf_rec *r,
			  int32_t cpu, struct err *err)
{
	int32_t n = p->src.info.cpus_avail;

	if (cpu >= -1 && (n <= 0 || cpu < n))
		return 0;
	return err_at(err, r->b.path, r->off,
		      "CPU %" PRId32 ", the machine has %" PRId32, cpu, n);
}

static int perf_check_address(const struct perf *p, const struct perf_rec *r,
			      uint64_t addr, bool kernel, struct err *err)
{
	if (halves_have(&p->halves, addr, kernel))
		return 0;
	return err_at(err, r->b.path, r->off,
		      "address 0x%" PRIx64 " cannot be one of %s", addr,
		      kernel ? "the kernel" : "a program");
}

/* An address of the kernel's half: the kernel keeps only addresses of its own
 * text there. perf inject --aslr writes 0 for one that it has no mapping for,
 * and in front of the half of a precise event may stand the address of a
 * program (perf_sample_precise_mode()). */
static int perf_check_kernel_half(struct perf *p, const struct perf_rec *r,
				  const struct record *rec, uint32_t i,
				  struct err *err)
{
	const struct rec_sample *s = &rec->sample;
	uint64_t addr = s->kern.ip[i];

	if (halves_have(&p->halves, addr, true))
		return 0;
	if (!addr && p->src.info.injected) {
		perf_note_event(p, s->event, NOTED_UNMAPPED);
		return 0;
	}
	if (!i && addr == s->ip && rec->flags & REC_F_USER &&
	    p->attr[s->event].flags & PA_PRECISE)
		return 0;
	return perf_check_address(p, r, addr, true, err);
}

static int perf_check_addresses(struct perf *p, const struct perf_rec *r,
				const struct record *rec, struct err *err)
{
	const struct rec_sample *s = &rec->sample;
	bool kernel = rec->flags & REC_F_KERNEL;

	if (!p->halves.kernel_start || rec->flags & REC_F_GUEST ||
	    !(rec->flags & (REC_F_KERNEL | REC_F_USER)))
		return 0;
	if (s->ip && perf_check_address(p, r, s->ip, kernel, err))
		return -1;
	for (uint32_t i = 0; i < s->kern.n; i++)
		if (perf_check_kernel_half(p, r, rec, i, err))
			return -1;
	for (uint32_t i = 0; i < s->n_branch; i++)
		if (perf_check_address(p, r, s->branch[i].from, false, err) ||
		    perf_check_address(p, r, s->branch[i].to, false, err))
			return -1;
	return 0;
}

static int perf_check_sample(struct perf *p, const struct perf_rec *r,
			     const struct record *rec, struct err *err)
{
	const struct rec_sample *s = &rec->sample;

	if (s->weight >> 63)
		return err_at(err, r->b.path, r->off,
			      "period 0x%" PRIx64 ", needs less than 2^63",
			      s->weight);
	return perf_check_addresses(p, r, rec, err);
}

static int perf_check_map(const struct perf *p, const struct perf_rec *r,
			  const struct record *rec, struct err *err)
{
	const struct rec_map *m = &rec->map;
	uint64_t last;

	/* perf maps a kernel whose addresses it may not see from 0 on */
	if (rec->flags & (REC_F_KERNEL | REC_F_GUEST))
		return 0;
	if (__builtin_add_overflow(m->start, m->len ? m->len - 1 : 0, &last))
		return err_at(err, r->b.path, r->off,
			      "mapping of 0x%" PRIx64 " bytes at 0x%" PRIx64
			      " goes beyond the last address",
			      m->len, m->start);
	if (!p->halves.kernel_start)
		return 0;
	return perf_check_address(p, r, m->start, false, err) ||
			       perf_check_address(p, r, last, false, err)
		       ? -1
		       : 0;
}

int perf_check_record(struct perf *p, const struct perf_rec *r,
		      const struct record *rec, struct err *err)
{
	if ((r->misc & PM_CPUMODE) > PM_GUEST_USER)
		return err_at(err, r->b.path, r->off, "mode %u, needs 0 to %d",
			      r->misc & PM_CPUMODE, PM_GUEST_USER);
	if (perf_check_thread(r, rec->pid, err) ||
	    perf_check_thread(r, rec->tid, err) ||
	    perf_check_cpu(p, r, rec->cpu, err))
		return -1;
	switch (rec->kind) {
	case REC_SAMPLE:
		return perf_check_sample(p, r, rec, err);
	case REC_MAP:
		return perf_check_map(p, r, rec, err);
	case REC_FORK:
	case REC_EXIT:
		return perf_check_thread(r, rec->fork.ppid, err) ||
				       perf_check_thread(r, rec->fork.ptid, err)
			       ? -1
			       : 0;
	case REC_SWITCH:
		return perf_check_thread(r, rec->sw.other_pid, err) ||
				       perf_check_thread(r, rec->sw.other_tid,
							 err)
			       ? -1
			       : 0;
	default:
		return 0;
	}
}
