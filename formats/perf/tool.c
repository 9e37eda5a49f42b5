/* tool.c - evaluates the records that the perf tool writes to describe the
 * capture. */
#include <inttypes.h>

#include "formats/perf/cut_mark.h"
#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"

/* ---- makes the ref of a kernel record: its time, sort class and handle.
 *
 * It also checks that perf keeps the promise of FINISHED_ROUND. */

bool perf_ref_make(struct perf *p, struct perf_file *f,
		   const struct perf_rec *r, struct ref *ref)
{
	const struct perf_attr *a = p->attr;
	uint64_t seq = f->n++;

	if (r->type >= PR_KERNEL_KNOWN || !r->type) {
		if (p->loud)
			perf_skip_type(p, r);
		return false;
	}
	/* kernel records have multiples of 8 bytes */
	if (r->size % 8) {
		perf_damage_text(p, r->b.path, "record", r->off, r->size,
				 "record of type %s is %u bytes, needs a "
				 "multiple of 8",
				 perf_type_name(r->type), r->size);
		return false;
	}
	/* the event matters only if it determines the offset of the time */
	if (!p->same_time) {
		a = perf_attr_of_record(p, r);
		if (!a) {
			if (p->loud)
				perf_damage_id(p, r);
			return false;
		}
	}
	if (p->src.info.overwrite)
		seq = ((uint64_t)1 << PERF_FILE_BIT) - 1 - seq;
	ref->seq = perf_in_file(f, seq);
	ref->handle = r->handle;
	ref->len = r->size;
	ref->source = p->src.index;
	if (!p->src.info.has_time) {
		ref->key = perf_in_file(f, f->n - 1);
		ref->kind = 0;
		ref->untimed = 1;
		return true;
	}
	uint64_t t = 0;

	if (r->type == PR_SAMPLE) {
		if (a->s_time)
			bytes_peek_u64(&r->b, a->s_time, &t);
	} else if (a->t_time) {
		if (r->size >= 8 + a->t_size)
			bytes_peek_u64(&r->b, r->size - a->t_time, &t);
	} else if ((r->type == PR_EXIT || r->type == PR_FORK) &&
		   (a->sample_type & PS_TIME)) {
		/* older perf: no trailer, but these two have a time field */
		bytes_peek_u64(&r->b, 24, &t);
	}
	ref->key = t;
	ref->kind = perf_type_class(r->type, r->misc);
	ref->untimed = !ref->key || ref->key >= TIME_UNREAL;
	if (!ref->untimed && perf_check_time_is_far(p, f, ref->key)) {
		perf_damage_text(p, r->b.path, "time", r->off, r->size,
				 "record of type %s is of %" PRIu64
				 " ns, years from those before it",
				 perf_type_name(r->type), ref->key);
		return false;
	}
	if (!ref->untimed)
		f->last_key = ref->key;
	else if (r->type == PR_LOST_SAMPLES)
		ref->key = KEY_LAST;
	else if (!ref->key || ref->key == UINT64_MAX)
		ref->key = f->last_key;
	return true;
}

bool perf_ref_is_state(const struct perf *p, const struct perf_rec *r,
		       const struct ref *ref)
{
	return ref->untimed && p->src.info.has_time && r->type != PR_SAMPLE &&
	       r->type != PR_CALLCHAIN_DEFERRED && r->type != PR_LOST_SAMPLES;
}

/* Computes what the end of a round releases. perf sorts records in a queue. The
 * end of a round releases those up to the limit, which is the largest time at
 * the end of the previous round; flushed is the largest time that was released.
 * It can be computed without a queue. The previous end released all records up
 * to limit_was, so a waiting record is later than limit_was, or came in this
 * round:
 * - The limit grew. The record with this very time came in the previous round
 * and is later than limit_was, so it still waits. It is released now, and no
 * later record is.
 * - The limit equals limit_was (it never falls). No waiting record from before
 * this round is up to it. Only records of this round up to the limit are
 * released, and behind is the largest time of these; 0: there are none, and
 * flushed stays. With behind, flushed may become less than before. */
static void perf_round_end(struct perf *p)
{
	struct perf_rounds *ro = &p->rounds;

	if (ro->limit > ro->limit_was)
		ro->flushed = ro->limit;
	else if (ro->behind)
		ro->flushed = ro->behind;
	ro->limit_was = ro->limit;
	ro->limit = ro->max;
	ro->behind = 0;
	ro->n++;
}

void perf_round_time(struct perf *p, uint64_t time)
{
	struct perf_rounds *ro = &p->rounds;

	raise_to(ro->max, time);
	if (time <= ro->limit && time > ro->behind)
		ro->behind = time;
}

void perf_round_record(struct perf *p, const struct perf_rec *r,
		       const struct ref *ref)
{
	if (ref->untimed)
		return;
	/* overwrite mode writes the newest first and promises nothing */
	if (ref->key < p->rounds.flushed && !p->src.info.overwrite) {
		const struct perf_attr *a = perf_attr_of_record(p, r);
		uint32_t cpu = UINT32_MAX;
		char detail[96];

		if (a && r->type == PR_SAMPLE && a->s_cpu)
			bytes_peek_u32(&r->b, a->s_cpu, &cpu);
		else if (a && r->type != PR_SAMPLE && a->t_cpu)
			bytes_peek_u32(&r->b, r->size - a->t_cpu, &cpu);
		snprintf(detail, sizeof(detail),
			 "%s %" PRIu64 " ns behind what round %" PRIu64
			 " closed",
			 perf_type_name(r->type), p->rounds.flushed - ref->key,
			 p->rounds.n);
		struct ledger_entry e = {
			.kind = LEDGER_ORDER,
			.capture = p->src.index,
			.what = "round",
			.detail = detail,
			.off = r->off,
			.len = r->size,
			.t0 = ref->key,
			.t1 = p->rounds.flushed,
			.n = 1,
			.cpu = (int32_t)cpu,
			.event = a ? (int32_t)(a - p->attr) : -1,
		};
		ledger_add(p->src.ledger, &e);
	}
	perf_round_time(p, ref->key);
}

#define UPDATE_NAME 2
/* perf reserves space for the record's other contents in addition to the
 * name. */
#define UPDATE_PADDING 23
#define TIME_CONV_MORE 24 /* time_cycles, time_mask, two flags */
#define AUXTRACE_SIZE 40

/* Takes the mark of a place where a stream was cut. What precedes or follows it
 * is missing here. */
static int perf_tool_cut(struct perf *p, const struct perf_rec *r,
			 struct bytes *b, struct err *err)
{
	struct source_info *info = &p->src.info;
	uint64_t place;

	if (bytes_u64(b, &place, err) || rest_end(b, err))
		return -1;
	p->is_piece |= r->misc == PERF_CUT_BEGINS;
	p->piece_ends |=
		r->misc & (PERF_CUT_ENDS | PERF_CUT_BROKEN | PERF_CUT_LAST);
	switch (r->misc) {
	case PERF_CUT_BEGAN:
	case PERF_CUT_BEGINS:
		if (!info->cut_before)
			info->cut_before = place;
		break;
	case PERF_CUT_ENDS:
		info->cut_behind = place;
		break;
	case PERF_CUT_PACKED:
		perf_damage_text(
			p, b->path, "compressed", r->off, r->size,
			"compressed data at 0x%" PRIx64
			" of the stream is damaged, and was not stored",
			place);
		break;
	case PERF_CUT_BROKEN:
		perf_damage_text(
			p, b->path, "record", r->off, r->size,
			"the size of the record at 0x%" PRIx64
			" of the stream is damaged: nothing after it was read",
			place);
		break;
	default:
		break;
	}
	return 0;
}

void perf_tool_end(struct perf *p)
{
	const struct perf_file *f = &p->file[0];
	uint64_t off = bytes_off(&f->raw);

	if (!p->is_piece || p->piece_ends)
		return;
	/* records after it may report a loss inside it */
	p->src.info.cut_behind = CUT_UNKNOWN;
	p->src.info.truncated = true;
	perf_damage_text(
		p, f->in.path, "truncated", off, 0,
		"the rest of the stream is missing: it ended in a record, or "
		"'backstitch follow' was ended before it had stored that");
}

static int perf_tool_parse(struct perf *p, const struct perf_rec *r,
			   struct err *err)
{
	struct bytes b = r->b;

	bytes_skip(&b, 8, err);
	switch (r->type) {
	case PR_HEADER_ATTR: {
		struct bytes attr;
		uint32_t size = 0;
		uint64_t id;

		bytes_peek_u32(&b, 4, &size);
		if (!size)
			size = 64;
		if (bytes_take(&b, size, &attr, err) ||
		    perf_attr_add(p, &attr, err))
			return -1;
		while (bytes_left(&b) >= 8 && !bytes_u64(&b, &id, err))
			perf_id_add(p, id, (uint32_t)p->n_attr - 1);
		return rest_end(&b, err);
	}
	case PR_BUILD_ID:
		return perf_feature_add_build_id(p, &b, r->misc, err);
	case PR_ID_INDEX: {
		/* the CPU and thread on which the event of each id was
		 * opened */
		uint64_t n, id, idx, cpu, tid;

		if (bytes_u64(&b, &n, err))
			return -1;
		for (uint64_t i = 0; i < n; i++) {
			if (bytes_u64(&b, &id, err) ||
			    bytes_u64(&b, &idx, err) ||
			    bytes_u64(&b, &cpu, err) ||
			    bytes_u64(&b, &tid, err))
				return -1;
			struct perf_id *known = perf_id_find(p, id);

			if (!known)
				continue;
			known->cpu = (int32_t)cpu;
			known->tid = (int32_t)tid;
		}
		/* later versions: machine_pid and vcpu for each id */
		if (bytes_left(&b) == n * 16)
			return 0;
		return rest_end(&b, err);
	}
	case PR_THREAD_MAP: {
		uint64_t n, pid;

		if (bytes_u64(&b, &n, err))
			return -1;
		for (uint64_t i = 0; i < n; i++) {
			if (bytes_u64(&b, &pid, err) || bytes_skip(&b, 16, err))
				return -1;
			/* recording all threads gives a map with one entry,
			 * -1 */
			p->thread_map |= (int32_t)pid != -1;
		}
		return rest_end(&b, err);
	}
	case PR_EVENT_UPDATE: {
		uint64_t type, id;
		const char *name;

		if (bytes_u64(&b, &type, err) || bytes_u64(&b, &id, err))
			return -1;
		struct perf_id *known = perf_id_find(p, id);

		if (type != UPDATE_NAME)
			return 0;
		if (bytes_str(&b, &name, err))
			return -1;
		if (known)
			perf_attr_set_name(p, known->attr, name);
		return rest_padding(&b, UPDATE_PADDING, err);
	}
	case PR_FEATURE: {
		uint64_t bit;

		if (bytes_u64(&b, &bit, err))
			return -1;
		/* a record without a payload ends the list of features */
		if (bytes_left(&b) && bit < 256)
			perf_feature_take(p, (uint32_t)bit, &b, 7);
		return 0;
	}
	case PR_AUXTRACE_INFO:
	case PR_AUXTRACE:
		if (!p->has_aux)
			perf_note(p, "aux",
				  "hardware trace (AUX) data is not decoded");
		p->has_aux = true;
		if (r->type != PR_AUXTRACE)
			return 0;
		perf_skip_type(p, r);
		return bytes_skip(&b, AUXTRACE_SIZE, err) ? -1
							  : rest_end(&b, err);
	case PR_FINISHED_ROUND:
		perf_round_end(p);
		return rest_end(&b, err);
	case PR_TIME_CONV: {
		/* How x86 converts TSC to time, from the kernel's user page.
		 * The later fields are for counters with fewer bits
		 * (time_cycles, time_mask). */
		uint64_t shift, mult, zero;

		if (bytes_u64(&b, &shift, err) || bytes_u64(&b, &mult, err) ||
		    bytes_u64(&b, &zero, err))
			return -1;
		if (shift >= 64)
			return err_at(err, b.path, bytes_off(&b) - 24,
				      "times are shifted by %" PRIu64
				      " bits, needs at most 63",
				      shift);
		p->src.info.tsc =
			(struct tsc_conv){ zero, mult, (uint16_t)shift };
		return rest_padding(&b, TIME_CONV_MORE, err);
	}
	case PR_FINISHED_INIT:
		return rest_end(&b, err);
	case PR_CPU_MAP:
		return 0;
	case PR_CUT:
		return perf_tool_cut(p, r, &b, err);
	case PR_EVENT_ID:
		return perf_simpleperf_event_ids(p, &b, err);
	default:
		perf_skip_type(p, r);
		return 0;
	}
}

int perf_tool_take(struct perf *p, struct perf_file *f,
		   const struct perf_rec *r, struct err *err)
{
	struct err why;

	if (r->type == PR_TRACING_DATA && r->chunk == f->window) {
		unsigned char *owned OWNED = NULL;
		struct bytes b = r->b;

		/* header, u32 size, and padding in some versions */
		if (bytes_skip(&b, 12, &why) || rest_padding(&b, 4, &why))
			perf_damage(p, "record", r->off, r->size, &why);
		if (!perf_walk_payload(p, f, &b, &owned, &why)) {
			perf_tracing_data(p, &b, 7);
			perf_trace_join_events(p);
		} else if (why.code != ERR_IO) {
			perf_damage(p, "tracing data", bytes_off(&b), 0, &why);
		} else {
			if (err)
				*err = why;
			return -1;
		}
	} else if (perf_tool_parse(p, r, &why)) {
		perf_damage(p, "record", r->off, r->size, &why);
	}
	return 0;
}

/* Returns whether the ids show that each event was opened on all CPUs and on no
 * thread. */
static enum tri perf_tool_is_system_wide(const struct perf *p)
{
	uint32_t *first OWNED = mem_new(p->n_attr ? p->n_attr : 1,
					sizeof(*first)); /* of its key */
	uint64_t *on OWNED = mem_new(p->n_attr ? p->n_attr : 1, sizeof(*on));
	struct table keys = { 0 }, cpus = { 0 };
	enum tri wide = p->n_id ? TRI_YES : TRI_UNKNOWN;

	for (size_t i = 0; i < p->n_attr; i++)
		first[i] = table_find_or_add(&keys, event_kind_key(p, i), i);
	for (size_t i = 0; i < p->n_id && wide == TRI_YES; i++) {
		const struct perf_id *id = &p->id[i];
		uint32_t event = first[id->attr];

		if (id->tid == -2)
			wide = TRI_UNKNOWN;
		else if (id->tid != -1)
			wide = TRI_NO;
		else if (id->cpu >= 0)
			on[event] +=
				table_find_or_add(
					&cpus,
					hash_pair(event, (uint32_t)id->cpu),
					i) == i;
	}
	for (size_t i = 0; i < p->n_attr && wide == TRI_YES; i++)
		if (p->src.info.cpus_online < 0)
			wide = TRI_UNKNOWN;
		else if (on[first[i]] < (uint64_t)p->src.info.cpus_online)
			wide = TRI_NO;
	table_release(&keys);
	table_release(&cpus);
	return wide;
}

void perf_tool_finish(struct perf *p)
{
	p->src.info.system_wide =
		p->thread_map ? TRI_NO : perf_tool_is_system_wide(p);
	/* Set whether all threads of a recorded process are recorded. If perf
	 * attached to tasks, each event must be inherited; if to CPUs, it must
	 * be all of them. */
	bool of_tasks = p->thread_map;

	for (size_t i = 0; i < p->n_id && !of_tasks; i++)
		of_tasks = p->id[i].tid >= 0;
	for (size_t i = 0; i < p->n_attr && of_tasks; i++)
		of_tasks = (p->attr[i].flags & PA_INHERIT) != 0;
	p->src.info.whole_tasks =
		of_tasks || p->src.info.system_wide == TRI_YES;
	/* Read from the command line what no record has: filters (since perf
	 * 6.16 a user is one), groups (a member counts only while its leader
	 * does), cgroups, pauses. Options may be abbreviated and combined, as
	 * in '-aG x'. Arguments of the recorded program count as options of
	 * perf if it is not known where it begins. */
	static const char *const filters[] = { "--fi",	     "--ex", "--cg",
					       "--for",	     "--ui", "-u",
					       "--tp-filter" }; /* simpleperf */
	/* these options stop the rings while they are read */
	static const char *const stops[] = { "--ov", "--sn", "--sw" };
	struct source_info *info = &p->src.info;
	const char *s = info->cmdline;
	bool stopped = info->injected;

	while (s && *s && (size_t)(s - info->cmdline) < p->n_options) {
		size_t n = strcspn(s, " ");

		if (n == 2 && !memcmp(s, "--", 2))
			break;
		if (s[0] == '-' && s[1] != '-') {
			info->filtered |= memchr(s, 'G', n) != NULL;
			info->paused |= memchr(s, 'D', n) != NULL;
			stopped |= memchr(s, 'S', n) != NULL;
		}
		for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
			info->filtered |=
				!strncmp(s, filters[i], strlen(filters[i]));
		info->filtered |= memchr(s, '{', n) != NULL;
		info->paused |=
			!strncmp(s, "--de", 4) || !strncmp(s, "--con", 5);
		info->pieces |= !strncmp(s, "--switch-o", 10);
		for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
			stopped |= !strncmp(s, stops[i], strlen(stops[i])) &&
				   strncmp(s, "--switch-e", 10) != 0;
		s += n + (s[n] == ' ');
	}
	/* a command line without any option is incomplete */
	info->unpaused =
		info->cmdline && strstr(info->cmdline, " -") && !info->paused &&
		!stopped &&
		(!info->version || strcmp(info->version, "backstitch"));
	/* A tracepoint without a period takes a sample on each hit; with a
	 * period it may. */
	for (size_t i = 0; i < p->n_attr; i++) {
		const struct perf_attr *a = &p->attr[i];

		p->event[i].every =
			a->type == PERF_TYPE_TRACEPOINT &&
			(a->period <= 1 || event_kind_how(a) == EVENT_COUNT) &&
			!(a->flags & (PA_FREQ | PA_EXCLUDE_KERNEL)) &&
			!p->src.info.filtered;
	}
}
