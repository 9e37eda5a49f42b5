/* record.c - decodes the bytes of a kernel record to a struct record. */
#include <string.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"

/* Takes the string at the end of the record, padded to 8 bytes. */
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

/* Linux since 5.12 (88a16a130933; measured on 6.18) prepares the header of a
 * mapping once for all who record it: who asks for its build-id sets bit 14,
 * and the next ones have it too, above a device and an inode. perf inject adds
 * build-ids where no event asks for them. Returns true if none was asked for,
 * the 24 bytes begin as a device does (12 and 20 bits), and are no build-id:
 * too short, too long, not followed by zeros, or as short as some are and with
 * the minor number of a disk. */
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

/* Takes 24 bytes: a device and an inode, or a build-id. */
static int perf_record_take_map_identity(const struct perf *p, struct bytes *b,
					 uint16_t misc, struct record *rec,
					 struct err *err)
{
	struct rec_map *m = &rec->map;
	struct bytes id;
	uint8_t n;

	/* the bytes are of a mapping before it */
	if (misc & PM_BIT12)
		return bytes_skip(b, 24, err);
	if (!(misc & PM_BIT14) || perf_record_is_device(p, b))
		return bytes_u32(b, &m->maj, err)
			       ?: bytes_u32(b, &m->min, err)
			       ?: bytes_u64(b, &m->ino, err)
			       ?: bytes_u64(b, &m->ino_gen, err);
	if (bytes_u8(b, &n, err) || bytes_skip(b, 3, err) ||
	    bytes_take(b, 20, &id, err) || perf_check_build_id(&id, n, err))
		return -1;
	rec->flags |= REC_F_BUILD_ID;
	m->id_len = n;
	m->id = m->id_len ? id.pos : NULL;
	return 0;
}

static int perf_record_map(const struct perf *p, struct bytes *b,
			   const struct perf_rec *r, struct record *rec,
			   struct err *err)
{
	struct rec_map *m = &rec->map;

	rec->kind = REC_MAP;
	uint16_t misc = r->misc;
	uint32_t mode = misc & PM_CPUMODE;
	uint32_t flags = misc & PM_BIT13 ? REC_F_DATA : 0;

	if (mode == PM_KERNEL || mode == PM_GUEST_KERNEL)
		flags |= REC_F_KERNEL;
	if (mode == PM_GUEST_KERNEL || mode == PM_GUEST_USER)
		flags |= REC_F_GUEST;
	rec->flags |= flags;
	if (perf_record_take_pids(b, rec, err) ||
	    bytes_u64(b, &m->start, err) || bytes_u64(b, &m->len, err) ||
	    bytes_u64(b, &m->pgoff, err))
		return -1;
	if (r->type == PR_MMAP2) {
		if (perf_record_take_map_identity(p, b, r->misc, rec, err))
			return -1;
		/* Linux 3.12 to 3.15, and RHEL 7 with 3.10, have neither prot
		 * nor flags, but the name there. */
		/* Do the two bytes at pos begin a name? prot has small numbers
		 * in its lowest byte and 0 in the next, or, from perf inject
		 * --jit, a file's mode, whose second byte is 0x81. */
		unsigned char c[2];
		if ((bytes_peek(b, 0, c, 2) || c[0] <= ' ' || c[0] > '~' ||
		     ((c[1] <= ' ' || c[1] > '~') &&
		      (c[0] != '/' || c[1] <= 0x81))) &&
		    (bytes_u32(b, &m->prot, err) ||
		     bytes_u32(b, &m->flags, err)))
			return -1;
		if (r->misc & PM_BIT12)
			rec->flags |= REC_F_MAPS_END;
	}
	return perf_record_take_name(b, &m->path, err);
}

/* With a time, the record counts samples that the processor lost. Without, at
 * the end of the file, it is a total that perf read from the kernel, of one
 * event on one CPU (by ID_INDEX). */
static int perf_record_lost_samples(struct perf *p, const struct perf_attr *a,
				    const struct perf_rec *r, struct bytes *b,
				    bool untimed, struct record *rec,
				    struct err *err)
{
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

/* Takes a mark of u64s, in the order of their names. */
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

/* The id names the event as it was opened. stream_id names the copy that a
 * child inherited, which is in no table of ids. */
static int perf_record_throttle(struct perf *p, struct bytes *b,
				struct record *rec, const char *mark,
				struct err *err)
{
	static const char *const names[] = { "at", "id", "stream_id", NULL };

	if (perf_record_numbers_mark(p, b, rec, mark, names, err))
		return -1;
	const struct perf_id *id = perf_id_find(p, p->extra[1].value);

	if (id && id->attr < p->n_attr)
		rec->mark.event = id->attr + 1;
	return 0;
}

static int perf_record_namespaces(struct perf *p, struct bytes *b,
				  struct record *rec, struct err *err)
{
	static const char *const names[7][2] = {
		{ "net.dev", "net.ino" },	{ "uts.dev", "uts.ino" },
		{ "ipc.dev", "ipc.ino" },	{ "pid.dev", "pid.ino" },
		{ "user.dev", "user.ino" },	{ "mnt.dev", "mnt.ino" },
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

static int perf_record_text_poke(struct perf *p, struct bytes *b,
				 struct record *rec, struct err *err)
{
	uint16_t n_old, n_new;
	struct bytes was, now;
	uint64_t addr;

	if (bytes_u64(b, &addr, err) || bytes_u16(b, &n_old, err) ||
	    bytes_u16(b, &n_new, err) || bytes_take(b, n_old, &was, err) ||
	    bytes_take(b, n_new, &now, err) || rest_padding(b, 7, err))
		return -1;
	b->pos = b->end;
	perf_extra_add(p, "addr", addr);
	perf_extra_blob(p, "old", was.pos, n_old);
	perf_extra_blob(p, "new", now.pos, n_new);
	return perf_record_set_mark(p, rec, "text_poke");
}

static int perf_record_mark(struct perf *p, const struct perf_attr *a,
			    const struct perf_rec *r, struct bytes *b,
			    struct record *rec, struct err *err)
{
	static const char *const aux[] = { "offset", "size", "flags", NULL };
	static const char *const hw[] = { "hw_id", NULL };

	p->n_extra = 0;
	switch (r->type) {
	case PR_THROTTLE:
		return perf_record_throttle(p, b, rec, "throttle", err);
	case PR_UNTHROTTLE:
		return perf_record_throttle(p, b, rec, "unthrottle", err);
	case PR_READ:
		/* its values when its thread ended are not used */
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
	case PR_NAMESPACES:
		return perf_record_namespaces(p, b, rec, err);
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
	case PR_TEXT_POKE:
		return perf_record_text_poke(p, b, rec, err);
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
		/* perf made it up; the file has the maps of the child */
		if (r->type == PR_FORK && (r->misc & PM_BIT13))
			rec->flags |= REC_F_SYNTH;
		return bytes_i32(b, &rec->pid, err)
			       ?: bytes_i32(b, &rec->fork.ppid, err)
			       ?: bytes_i32(b, &rec->tid, err)
			       ?: bytes_i32(b, &rec->fork.ptid, err)
			       ?: bytes_skip(b, 8, err) /* a time */;
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
	case PR_LOST_SAMPLES:
		return perf_record_lost_samples(p, a, r, b, untimed, rec, err);
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

/* Takes thread and CPU from the trailer that all records but samples have. */
static int perf_record_take_trailer(const struct perf_attr *a,
				    const struct perf_rec *r, struct bytes *b,
				    struct record *rec, struct err *err)
{
	uint32_t v = 0;

	if (r->size < 8 + a->t_size)
		return bytes_short(&r->b, 8 + a->t_size, err);
	b->end -= a->t_size;
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
	return bytes_skip(b, 8, err);
}

int perf_record_decode_other(struct perf *p, const struct perf_attr *a,
			     const struct perf_rec *r, bool untimed,
			     struct record *rec, struct err *err)
{
	struct bytes b = r->b;

	return perf_record_take_trailer(a, r, &b, rec, err)
		       ?: perf_record_decode_body(p, a, r, &b, untimed, rec, err)
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
		/* otherwise perf_ref_make() reported it */
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
