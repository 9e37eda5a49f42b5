/* record.c - makes the record of a ref: an event with its stacks, a loss, or
 * one of task.c and defer.c. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/ftext/ftext.h"
#include "stitch/base/kallsyms_text.h"
#include "stitch/base/search.h"

/* ---- finds the code of the kernel that made a text of ftrace.
 *
 * Texts have names of the kernel's functions, and addresses if the option
 * sym-addr was on, but not the start of the kernel's code, which changes at
 * each boot. A copy of kallsyms has it. The copy is of the same boot if it has
 * the same names as the text for the text's addresses. */

/* The most frames to compare, and the most lines to search for them. */
#define FRAMES_MAX 4096u
#define LINES_MAX 200000u
#define PAGE 4096u

struct ftext_symbol {
	uint64_t addr;
	struct scan name;
};

struct ftext_symbols {
	struct ftext_symbol *at; /* sorted by address */
	size_t n, cap;
	struct table by_name; /* index of one symbol for each name */
	uint64_t text, etext; /* 0: the copy does not have them */
};

static bool ftext_symbol_same_name(const void *owner, uint32_t id,
				   const void *key)
{
	const struct scan *k = key;
	const struct scan *s =
		&((const struct ftext_symbols *)owner)->at[id].name;

	return s->n == k->n && !memcmp(s->p, k->p, k->n);
}

static bool ftext_symbols_have(const struct ftext_symbols *ks, struct scan name)
{
	return table_find(&ks->by_name, hash_bytes(name.p, name.n, 0),
			  ftext_symbol_same_name, ks, &name) != TABLE_NONE;
}

COMPARE_BY(ftext_symbol_compare, struct ftext_symbol, addr);

/* Returns true if a symbol with that name is the last one at or before addr.
 * `exact`: it must be at addr. */
static bool ftext_symbols_is_at(const struct ftext_symbols *ks, uint64_t addr,
				struct scan name, bool exact)
{
	size_t i = search_where(ks->n, k, ks->at[k].addr > addr);

	if (!i || (exact && ks->at[i - 1].addr != addr))
		return false;
	for (uint64_t start = ks->at[i - 1].addr;
	     i && ks->at[i - 1].addr == start; i--)
		if (ftext_symbol_same_name(ks, (uint32_t)(i - 1), &name))
			return true;
	return false;
}

/* How many frames with a name and an address agree with the copy, and how many
 * do not. */
struct ftext_agreement {
	unsigned int yes, no;
};

static struct ftext_agreement
ftext_kernel_compare_text(struct ftext *ft, const struct ftext_symbols *ks)
{
	struct ftext_agreement v = { 0, 0 };
	struct scan s;
	struct err err;

	if (ftext_peek_text(ft, &s, &err))
		return v;
	for (unsigned int i = 0; i < LINES_MAX && s.n; i++) {
		size_t n = scan_find_char(s, '\n');

		if (n == s.n || v.yes + v.no >= FRAMES_MAX)
			break;
		struct scan line = scan_head(s, n);
		struct line_frame f;

		scan_skip(&s, n + 1);
		if (!line_is_frame(line) || !line_frame(line, true, &f) ||
		    !f.addr || !f.symbol.n || f.path.n ||
		    !ftext_symbols_have(ks, f.symbol))
			continue;
		/* in some texts frames have no offset, and then no size
		 * either */
		if (ftext_symbols_is_at(ks, f.addr - f.off, f.symbol,
					f.size > 0))
			v.yes++;
		else
			v.no++;
	}
	return v;
}

int ftext_kernel(struct ftext *ft, struct err *err)
{
	struct ftext_symbols ks = { .n = 0 };
	struct input in;

	if (!ft->opts.kallsyms)
		return 0;
	if (input_open(&in, ft->opts.kallsyms, ft->opts.temp_dir, err) ||
	    input_spool(&in, ft->opts.temp_dir, err)) {
		input_close(&in);
		return -1;
	}
	struct kallsyms_text t = { .at = (const char *)in.data,
				   .left = in.len };
	struct kallsyms_line line;

	while (ks.n < UINT32_MAX - 1 && kallsyms_text_next(&t, &line)) {
		if (line.module_len || !kallsyms_line_is_code(&line))
			continue;
		if (kallsyms_line_is(&line, "_text"))
			ks.text = line.addr;
		else if (kallsyms_line_is(&line, "_etext"))
			ks.etext = line.addr;
		*mem_add(ks.at, ks.n, ks.cap) = (struct ftext_symbol){
			line.addr, scan_of(line.name, line.name_len)
		};
	}
	sort_items(ks.at, ks.n, ftext_symbol_compare);
	for (size_t i = 0; i < ks.n; i++)
		if (!ftext_symbols_have(&ks, ks.at[i].name))
			table_add(
				&ks.by_name,
				hash_bytes(ks.at[i].name.p, ks.at[i].name.n, 0),
				(uint32_t)i);
	struct ftext_agreement v = ftext_kernel_compare_text(ft, &ks);

	if (ks.text && v.yes && !v.no) {
		const uint64_t last = ks.at[ks.n - 1].addr;

		ft->kernel = ks.text;
		ft->kernel_end =
			ks.etext > ks.text
				? ks.etext
				: (last & ~(uint64_t)(PAGE - 1)) + PAGE;
	} else if (v.no) {
		reader_note(&ft->src, "kallsyms",
			    "addresses of the text differ from those of "
			    "--kallsyms: offsets in the kernel stay derived");
	}
	free(ks.at);
	table_release(&ks.by_name);
	input_close(&in);
	return 0;
}

/* A place is looked up by the text of its frame. */

struct ftext_place_key {
	struct scan key;
	bool kernel;
};

SAME_FUNCTION(ftext_place_same, struct ftext, place[id], struct ftext_place_key,
	      x->kernel == y->kernel && x->n == y->key.n &&
		      !memcmp(x->key, y->key.p, x->n));

/* Returns the place of a frame, which is added if it is new; NULL if the text
 * has only an address. */
static const struct place *
ftext_place_find(struct ftext *ft, const struct line_frame *f, bool kernel)
{
	struct ftext_place_key k = { f->key, kernel };

	if (!f->key.n)
		return NULL;
	uint64_t h = hash_bytes(f->key.p, f->key.n, kernel);
	uint32_t id = table_find(&ft->places, h, ftext_place_same, ft, &k);

	if (id != TABLE_NONE)
		return ft->place[id].place;
	struct ftext_place p = {
		.key = arena_strndup(&ft->arena, f->key.p, f->key.n),
		.n = f->key.n,
		.kernel = kernel,
	};

	if (kernel ? f->symbol.n : f->path.n) {
		struct place *place = arena_take(&ft->arena, sizeof(*place));

		*place = (struct place){ .off = f->off, .size = f->size };
		if (f->path.n)
			place->path =
				arena_strndup(&ft->arena, f->path.p, f->path.n);
		if (kernel)
			place->symbol = arena_strndup(&ft->arena, f->symbol.p,
						      f->symbol.n);
		p.place = place;
	}
	mem_grow(ft->place, ft->cap_place, ft->n_place + 1);
	table_add(&ft->places, h, (uint32_t)ft->n_place);
	ft->place[ft->n_place++] = p;
	return p.place;
}

/* Returns the frames in a text. trace-cmd's text ends a user stack, and with -N
 * a kernel stack, with lines of zeros, which are left out. */
static struct addrs ftext_record_take_stack(struct ftext *ft,
					    const struct ftext_item *it,
					    struct scan s, enum ftext_stack k)
{
	struct addrs a = { .n = 0 };
	bool kernel = k != FTEXT_USER;
	struct line_frame f;

	while (s.n) {
		struct scan line = scan_line(&s);

		if (!line.n)
			continue;
		if (!line_frame(line, kernel, &f)) {
			reader_damage_text(&ft->src, ft->in.path, "frame",
					   it->off, line.n,
					   "a frame of unknown form");
			f = (struct line_frame){ .addr = 0 };
		} else if (!f.addr && !f.key.n) {
			break;
		}
		mem_grow(ft->ip[k], ft->cap_ip[k], a.n + 1);
		mem_grow(ft->at[k], ft->cap_at[k], a.n + 1);
		ft->ip[k][a.n] = f.addr;
		ft->at[k][a.n++] = ftext_place_find(ft, &f, kernel);
	}
	a.ip = ft->ip[k];
	a.place = ft->at[k];
	return a;
}

/* Returns the lines of a stack in a field, as in synthetic events: from the
 * second line up to the next field. */
static struct scan ftext_record_field_text(const struct ftext *ft,
					   const struct ftext_item *it)
{
	struct scan s = ftext_part_of(ft, it, &it->text);
	size_t at = scan_find_char(s, '\n') + 1;
	size_t end = at;

	while (end < s.n && line_is_frame(scan_tail(s, end)))
		end += scan_find_char(scan_tail(s, end), '\n') + 1;
	return scan_head(scan_tail(s, at), end - at);
}

static void ftext_record_event(struct ftext *ft, const struct ftext_item *it,
			       struct record *rec)
{
	struct rec_sample *s = &rec->sample;

	rec->kind = REC_SAMPLE;
	*s = (struct rec_sample){ .event = it->event, .weight = 1 };
	s->kern = ftext_record_take_stack(
		ft, it, ftext_part_of(ft, it, &it->kern), FTEXT_KERN);
	if (it->has_field) {
		ft->held = ftext_record_take_stack(
			ft, it, ftext_record_field_text(ft, it), FTEXT_FIELD);
		s->held = &ft->held;
		s->n_held = 1;
		/* an event without another kernel stack gets that one */
		if (!it->has_kern)
			s->kern = ft->held;
	}
	s->user = ftext_record_take_stack(
		ft, it, ftext_part_of(ft, it, &it->user), FTEXT_USER);
	if (s->user.n)
		s->defer = DEFER_DIRECT;
	ftext_defer_request(ft, it, rec);
	ftext_sched(ft, it, &s->sched);
	const struct ftext_event *e = &ft->event[it->event];

	if (e->call != CALL_NONE &&
	    ftext_call_parse(ft, e, ftext_part_of(ft, it, &it->text),
			     &ft->call))
		s->call = &ft->call;
	ftext_set_payload(ft, it, ftext_part_of(ft, it, &it->text), s);
	/* in the payload the lines of a stack become one line */
	for (size_t i = 4u + ft->raw[0]; it->has_field && i < s->raw_len; i++)
		if (ft->raw[i] == '\n')
			ft->raw[i] = ' ';
}

int ftext_decode(struct source *src, const struct ref *ref, struct record *rec,
		 struct err *err UNUSED)
{
	struct ftext *ft = ftext_from_source(src);

	*rec = (struct record){
		.time = ref->key, .pid = -1, .tid = -1, .cpu = -1
	};
	if (ref->len == REF_TOTAL) {
		rec->kind = REC_LOST_TOTAL;
		rec->lost.n = ft->overwritten;
		rec->lost.event = -1;
		if (ref->handle < ft->beside.n_total) {
			const struct ftext_total *t =
				&ft->beside.total[ref->handle];

			rec->lost.n = t->n;
			rec->lost.place = t->place;
			rec->cpu = t->cpu;
		}
		return 0;
	}
	if (ref->len == REF_KERNEL) {
		rec->kind = REC_MAP;
		rec->flags |= REC_F_KERNEL | REC_F_SYNTH;
		rec->map = (struct rec_map){
			.start = ft->kernel,
			.len = ft->kernel_end - ft->kernel,
			.pgoff = ft->kernel,
			.prot = PROT_READ | PROT_EXEC,
			.path = "[kernel.kallsyms]_text",
		};
		return 0;
	}
	const struct ftext_item *it = ftext_item_at(ft, ref->handle);

	rec->time = it->time;
	rec->off = it->off;
	rec->cpu = it->cpu;
	if (ref->len == REF_LOST) {
		rec->kind = REC_LOST;
		rec->lost.n = it->n_lost;
		rec->lost.event = -1;
		/* the previous event may have the same time, as a text has
		 * microseconds; of equal times, the loss comes later */
		rec->lost.since = it->dropped ? ft->first_printed : it->since;
		rec->lost.has_since =
			it->dropped || (it->since && it->since == it->time);
		return 0;
	}
	rec->tid = it->pid;
	rec->pid = it->pid ? it->tgid : 0;
	if (ref->len == REF_SAMPLE)
		ftext_record_event(ft, it, rec);
	else if ((ref->len & ((1u << REF_BITS) - 1)) == REF_CHAIN)
		ftext_defer_chain(ft, it, ref->len >> REF_BITS, rec);
	else
		ftext_task_record(ft, it, (enum ftext_record)ref->len, rec);
	return 0;
}
