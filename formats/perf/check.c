/* check.c - values that no recorder can have written: damage, not facts.
 *
 * What may stand there is left alone: a user stack that was walked by frame
 * pointers has any number as a return address, and a clock that is set may
 * jump. */
#include <inttypes.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
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

bool perf_check_time_is_far(const struct perf *p, struct perf_file *f,
			    uint64_t time)
{
	/* Whoever starts a machine without a battery sets these clocks by
	 * years. */
	enum clock_id clock = p->src.info.clock_id;

	return clock != CLOCK_ID_REAL && clock != CLOCK_ID_TAI &&
	       near_time_is_far(&f->near, time);
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

static int perf_check_address(const struct perf *p, const struct perf_rec *r,
			      uint64_t addr, struct err *err)
{
	if (halves_have(&p->halves, addr, false))
		return 0;
	return err_at(err, r->b.path, r->off,
		      "address 0x%" PRIx64
		      " is in no half of the address space",
		      addr);
}

/* Code that the kernel runs is not always in its half: AArch64 maps the
 * firmware (EFI) at low addresses while it calls it, x86-64 that of 32 bits.
 * perf inject --aslr writes 0 for an address that it has no mapping for, and in
 * front of the half of a precise event may stand the address of a program
 * (perf_sample_decode()). */
static int perf_check_kernel_address(struct perf *p, const struct perf_rec *r,
				     const struct record *rec, uint64_t addr,
				     struct err *err)
{
	const struct rec_sample *s = &rec->sample;

	if (halves_have(&p->halves, addr, true))
		return 0;
	if (!addr && !p->src.info.injected)
		return err_at(err, r->b.path, r->off,
			      "address 0 in the kernel's half of a chain");
	if (!addr)
		perf_note_event(p, s->event, NOTED_UNMAPPED);
	else if (rec->flags & REC_F_KERNEL)
		perf_note_event(p, s->event, NOTED_LOW);
	return perf_check_address(p, r, addr, err);
}

static int perf_check_sample(struct perf *p, const struct perf_rec *r,
			     const struct record *rec, struct err *err)
{
	const struct rec_sample *s = &rec->sample;

	/* A tracepoint counts what its event says: sched_stat_wait of a clock
	 * that went back says a negative time. */
	if (s->weight >> 63 && p->attr[s->event].type != PERF_TYPE_TRACEPOINT)
		return err_at(err, r->b.path, r->off,
			      "period 0x%" PRIx64 ", needs less than 2^63",
			      s->weight);
	if (!p->halves.kernel_start || rec->flags & REC_F_GUEST ||
	    !(rec->flags & (REC_F_KERNEL | REC_F_USER)))
		return 0;
	if (s->ip && perf_check_address(p, r, s->ip, err))
		return -1;
	if (s->ip && rec->flags & REC_F_KERNEL &&
	    perf_check_kernel_address(p, r, rec, s->ip, err))
		return -1;
	for (uint32_t i = 0; i < s->kern.n; i++)
		if (perf_check_kernel_address(p, r, rec, s->kern.ip[i], err))
			return -1;
	for (uint32_t i = 0; i < s->n_branch; i++)
		if (perf_check_address(p, r, s->branch[i].from, err) ||
		    perf_check_address(p, r, s->branch[i].to, err))
			return -1;
	return 0;
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
	return perf_check_address(p, r, m->start, err)
		       ?: perf_check_address(p, r, last, err);
}

int perf_check_record(struct perf *p, const struct perf_rec *r,
		      const struct record *rec, struct err *err)
{
	if ((r->misc & PM_CPUMODE) > PM_GUEST_USER)
		return err_at(err, r->b.path, r->off, "mode %u, needs 0 to %d",
			      r->misc & PM_CPUMODE, PM_GUEST_USER);
	if (perf_check_thread(r, rec->pid, err) ||
	    perf_check_thread(r, rec->tid, err))
		return -1;
	/* NRCPUS has the CPUs that were there when recording ended: one that
	 * was taken out of a virtual machine before that has a higher number.
	 */
	int32_t n = p->src.info.cpus_avail;

	if (rec->cpu < -1 || rec->cpu > CPU_ID_MAX)
		return err_at(err, r->b.path, r->off,
			      "CPU %" PRId32 ", needs -1 to %d", rec->cpu,
			      CPU_ID_MAX);
	if (rec->kind == REC_SAMPLE && n > 0 && rec->cpu >= n)
		perf_note_event(p, rec->sample.event, NOTED_CPU);
	switch (rec->kind) {
	case REC_SAMPLE:
		return perf_check_sample(p, r, rec, err);
	case REC_MAP:
		return perf_check_map(p, r, rec, err);
	case REC_FORK:
	case REC_EXIT:
		return perf_check_thread(r, rec->fork.ppid, err)
			       ?: perf_check_thread(r, rec->fork.ptid, err);
	case REC_SWITCH:
		return perf_check_thread(r, rec->sw.other_pid, err)
			       ?: perf_check_thread(r, rec->sw.other_tid, err);
	default:
		return 0;
	}
}
