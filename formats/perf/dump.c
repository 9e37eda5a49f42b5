/* dump.c - prints every record, in file order, as a line of text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"

#define LINE 1024

struct line {
	char text[LINE];
	size_t len;
};

static void perf_dump_print(struct line *l, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
static void perf_dump_print(struct line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(l->text + l->len, LINE - l->len, fmt, ap);

	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < LINE - l->len ? (size_t)n
						    : LINE - l->len - 1;
}

static void perf_dump_addrs(struct line *l, const char *name,
			    const struct addrs *a)
{
	if (!a->n)
		return;
	perf_dump_print(l, " %s=%u:", name, a->n);
	for (uint32_t i = 0; i < a->n && i < 4; i++)
		perf_dump_print(l, "%s%" PRIx64, i ? "," : "", a->ip[i]);
	if (a->n > 4)
		perf_dump_print(l, ",..");
}

static void perf_dump_sample(const struct perf *p, struct line *l,
			     const struct rec_sample *s)
{
	perf_dump_print(l, " %s ip=%" PRIx64 " weight=%" PRIu64,
			p->event[s->event].name, s->ip, s->weight);
	perf_dump_addrs(l, "kern", &s->kern);
	perf_dump_addrs(l, "user", &s->user);
	if (s->defer == DEFER_COOKIE)
		perf_dump_print(l, " cookie=%" PRIx64, s->cookie);
	else if (s->defer == DEFER_MARK)
		perf_dump_print(l, " deferred, no cookie");
	if (s->n_branch)
		perf_dump_print(l, " branches=%u", s->n_branch);
	if (s->user_regs.n)
		perf_dump_print(l, " regs=%u", s->user_regs.n);
	if (s->stack)
		perf_dump_print(l, " stack=%u", s->stack_len);
	if (s->raw)
		perf_dump_print(l, " raw=%u", s->raw_len);
	for (uint32_t i = 0; i < s->n_extra; i++)
		perf_dump_print(l, " %s=%" PRIx64, s->extra[i].name,
				s->extra[i].value);
}

static void perf_dump_map(struct line *l, const struct rec_map *m)
{
	perf_dump_print(l, " %" PRIx64 "+%" PRIx64 " @%" PRIx64 " prot=%x %s",
			m->start, m->len, m->pgoff, m->prot, m->path);
	if (m->id_len)
		perf_dump_print(l, " build-id=");
	for (uint8_t i = 0; i < m->id_len; i++)
		perf_dump_print(l, "%02x", m->id[i]);
}

static void perf_dump_fields(const struct perf *p, struct line *l,
			     const struct record *rec)
{
	switch (rec->kind) {
	case REC_SAMPLE:
		perf_dump_sample(p, l, &rec->sample);
		break;
	case REC_CHAIN:
		perf_dump_print(l, " cookie=%" PRIx64, rec->chain.cookie);
		perf_dump_addrs(l, "user", &rec->chain.user);
		break;
	case REC_MAP:
		perf_dump_map(l, &rec->map);
		break;
	case REC_COMM:
		perf_dump_print(l, " %s%s", rec->comm.name,
				rec->flags & REC_F_EXEC ? " (exec)" : "");
		break;
	case REC_FORK:
	case REC_EXIT:
		perf_dump_print(l, " parent=%d/%d", rec->fork.ppid,
				rec->fork.ptid);
		break;
	case REC_KSYMBOL:
		perf_dump_print(l, " %" PRIx64 "+%x type=%u %s%s",
				rec->ksymbol.addr, rec->ksymbol.len,
				rec->ksymbol.type, rec->ksymbol.name,
				rec->flags & REC_F_GONE ? " (gone)" : "");
		break;
	case REC_LOST:
	case REC_LOST_TOTAL:
		perf_dump_print(l, " n=%" PRIu64 " event=%d", rec->lost.n,
				rec->lost.event);
		break;
	case REC_SWITCH:
		perf_dump_print(l, " %s other=%d/%d",
				rec->flags & REC_F_OUT ? "out" : "in",
				rec->sw.other_pid, rec->sw.other_tid);
		break;
	default:
		break;
	}
}

/* Replaces control characters: a name from a capture may hold newlines. */
static void perf_dump_clean_line(struct line *l)
{
	for (size_t i = 0; i < l->len; i++)
		if ((unsigned char)l->text[i] < ' ' || l->text[i] == 0x7f)
			l->text[i] = '?';
}

static void perf_dump_record(struct perf *p, struct perf_file *f,
			     const struct perf_rec *r, struct line *l)
{
	struct ref ref;
	struct record rec;
	struct err why;

	if (!p->n_attr || !perf_ref_make(p, f, r, &ref))
		return;
	if (perf_record_decode(&p->src, &ref, &rec, &why)) {
		perf_dump_print(l, " damaged: %s", why.msg);
		return;
	}
	perf_dump_print(l, " cpu=%d %d/%d", rec.cpu, rec.pid, rec.tid);
	if (ref.untimed)
		perf_dump_print(l, " t=-");
	else
		perf_dump_print(l, " t=%" PRIu64, rec.time);
	perf_dump_fields(p, l, &rec);
}

static int perf_dump_file(struct perf *p, struct perf_file *f,
			  int (*fn)(void *arg, const char *text,
				    struct err *err),
			  void *arg, struct err *err)
{
	struct perf_rec r;
	struct line l;
	int got;

	if (!p->stream)
		perf_walk_start(p, f);
	while ((got = perf_walk_next(p, f, &r, err)) > 0) {
		l.len = 0;
		if (f->index)
			perf_dump_print(&l, "%u:", f->index);
		perf_dump_print(&l, "0x%" PRIx64 " %s", r.off,
				perf_type_name(r.type));
		if (!strcmp(perf_type_name(r.type), "UNKNOWN"))
			perf_dump_print(&l, "(%" PRIu32 ")", r.type);
		perf_dump_print(&l, " size=%u misc=0x%x", r.size, r.misc);
		/* now, as the next record may free the chunk of a pipe */
		if (r.type < PR_TOOL)
			perf_dump_record(p, f, &r, &l);
		else if (p->stream && perf_tool_take(p, f, &r, err))
			return -1;
		perf_dump_clean_line(&l);
		if (fn(arg, l.text, err))
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
