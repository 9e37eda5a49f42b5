/* dump.c - prints every record, in file order, as a line of text. */
#include <inttypes.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/text_out.h"

#define LINE 1024

static void perf_dump_addrs(struct text_out *l, const char *name,
			    const struct addrs *a)
{
	if (!a->n)
		return;
	text_out_add(l, " %s=%u:", name, a->n);
	for (uint32_t i = 0; i < a->n && i < 4; i++)
		text_out_add(l, "%s%" PRIx64, i ? "," : "", a->ip[i]);
	if (a->n > 4)
		text_out_add(l, ",..");
}

static void perf_dump_sample(const struct perf *p, struct text_out *l,
			     const struct rec_sample *s)
{
	text_out_add(l, " %s ip=%" PRIx64 " weight=%" PRIu64,
		     p->event[s->event].name, s->ip, s->weight);
	perf_dump_addrs(l, "kern", &s->kern);
	perf_dump_addrs(l, "user", &s->user);
	if (s->defer == DEFER_COOKIE)
		text_out_add(l, " cookie=%" PRIx64, s->cookie);
	else if (s->defer == DEFER_MARK)
		text_out_add(l, " deferred, no cookie");
	if (s->n_branch)
		text_out_add(l, " branches=%u", s->n_branch);
	if (s->user_regs.n)
		text_out_add(l, " regs=%u", s->user_regs.n);
	if (s->stack)
		text_out_add(l, " stack=%u", s->stack_len);
	if (s->raw)
		text_out_add(l, " raw=%u", s->raw_len);
	for (uint32_t i = 0; i < s->n_extra; i++)
		text_out_add(l, " %s=%" PRIx64, s->extra[i].name,
			     s->extra[i].value);
}

static void perf_dump_map(struct text_out *l, const struct rec_map *m)
{
	text_out_add(l, " %" PRIx64 "+%" PRIx64 " @%" PRIx64 " prot=%x %s",
		     m->start, m->len, m->pgoff, m->prot, m->path);
	if (m->id_len)
		text_out_add(l, " build-id=");
	for (uint8_t i = 0; i < m->id_len; i++)
		text_out_add(l, "%02x", m->id[i]);
}

static void perf_dump_record(struct perf *p, struct perf_file *f,
			     const struct perf_rec *r, struct text_out *l)
{
	struct ref ref;
	struct record rec;
	struct err why;

	if (!p->n_attr || !perf_ref_make(p, f, r, &ref))
		return;
	if (perf_record_decode(&p->src, &ref, &rec, &why)) {
		text_out_add(l, " damaged: %s", why.msg);
		return;
	}
	text_out_add(l, " cpu=%d %d/%d", rec.cpu, rec.pid, rec.tid);
	if (ref.untimed)
		text_out_add(l, " t=-");
	else
		text_out_add(l, " t=%" PRIu64, rec.time);
	switch (rec.kind) {
	case REC_SAMPLE:
		perf_dump_sample(p, l, &rec.sample);
		break;
	case REC_CHAIN:
		text_out_add(l, " cookie=%" PRIx64, rec.chain.cookie);
		perf_dump_addrs(l, "user", &rec.chain.user);
		break;
	case REC_MAP:
		perf_dump_map(l, &rec.map);
		break;
	case REC_COMM:
		text_out_add(l, " %s%s", rec.comm.name,
			     rec.flags & REC_F_EXEC ? " (exec)" : "");
		break;
	case REC_FORK:
	case REC_EXIT:
		text_out_add(l, " parent=%d/%d", rec.fork.ppid, rec.fork.ptid);
		break;
	case REC_KSYMBOL:
		text_out_add(l, " %" PRIx64 "+%x type=%u %s%s",
			     rec.ksymbol.addr, rec.ksymbol.len,
			     rec.ksymbol.type, rec.ksymbol.name,
			     rec.flags & REC_F_GONE ? " (gone)" : "");
		break;
	case REC_LOST:
	case REC_LOST_TOTAL:
		text_out_add(l, " n=%" PRIu64 " event=%d", rec.lost.n,
			     rec.lost.event);
		break;
	case REC_SWITCH:
		text_out_add(l, " %s other=%d/%d",
			     rec.flags & REC_F_OUT ? "out" : "in",
			     rec.sw.other_pid, rec.sw.other_tid);
		break;
	default:
		break;
	}
}

static int perf_dump_file(struct perf *p, struct perf_file *f,
			  int (*fn)(void *arg, const char *text,
				    struct err *err),
			  void *arg, struct err *err)
{
	struct perf_rec r;
	char text[LINE];
	struct text_out l = { .buf = text, .size = LINE };
	int got;

	if (!p->stream)
		perf_walk_start(p, f);
	while ((got = perf_walk_next(p, f, &r, err)) > 0) {
		l.len = 0;
		if (f->index)
			text_out_add(&l, "%u:", f->index);
		text_out_add(&l, "0x%" PRIx64 " %s", r.off,
			     perf_type_name(r.type));
		if (!strcmp(perf_type_name(r.type), "UNKNOWN"))
			text_out_add(&l, "(%" PRIu32 ")", r.type);
		text_out_add(&l, " size=%u misc=0x%x", r.size, r.misc);
		/* now, as the next record may free the chunk of a pipe */
		if (r.type < PR_TOOL)
			perf_dump_record(p, f, &r, &l);
		else if (p->stream && perf_tool_take(p, f, &r, err))
			return -1;
		/* a name from a capture may hold newlines */
		for (size_t i = 0; i < l.len; i++)
			if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
				text[i] = '?';
		if (fn(arg, text, err))
			return -1;
	}
	return got;
}

int perf_dump(struct source *src,
	      int (*fn)(void *arg, const char *text, struct err *err),
	      void *arg, struct err *err)
{
	struct perf *p = perf_of(src);

	for (size_t i = 0; i < p->n_file; i++)
		if (perf_dump_file(p, &p->file[i], fn, arg, err) < 0)
			return -1;
	return 0;
}
