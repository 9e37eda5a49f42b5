/* report_rows.c - makes the rows of report. */
#include "analyze/stacks/report_rows.h"

#include "analyze/names/thread_names.h"
#include "analyze/samples/code.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stack_names.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/text_out.h"

/* Returns whether only interrupts enter a function of the kernel, so that its
 * callees are not work of the interrupted thread. */
static bool interrupts_enter(const char *name)
{
	/* Names begin like this: x86 since Linux 5.8, before that, AArch64 and
	 * s390x. A page fault is the thread's own work, and is not here. */
	static const char *const begin[] = {
		"asm_sysvec_",
		"asm_common_interrupt",
		"asm_spurious_interrupt",
		"sysvec_",
		"common_interrupt",
		"fred_extint",
		"apic_timer_interrupt",
		"smp_apic_timer_interrupt",
		"reschedule_interrupt",
		"ret_from_intr",
		"do_IRQ",
		"el0_irq",
		"el1_irq",
		"el0t_64_irq",
		"el0t_32_irq",
		"el1h_64_irq",
		"el0_interrupt",
		"el1_interrupt",
		"io_int_handler",
		"ext_int_handler",
		"do_io_irq",
		"do_ext_irq",
	};

	return any_where(ARRAY_SIZE(begin), i,
			 !strncmp(name, begin[i], strlen(begin[i])));
}

/* The class of samples that hit the kernel only. */
#define NO_CLASS "no user stack"

void report_rows_free(struct report_rows *r)
{
	if (!r)
		return;
	labels_free(r->labels);
	intern_release(&r->index);
	free_all(r->row_label, r->row_of, r->row_of_frame, r->row, r->hit,
		 r->stack, r);
}

struct report_rows *report_rows_empty(const struct labels *labels,
				      unsigned int keys)
{
	struct report_rows *r = mem_new(1, sizeof(*r));

	r->names = labels;
	r->keys = keys;
	r->labels = labels_new();
	/* rows without a name have label 0 */
	labels_add_name(r->labels, LABEL_GROUP, "");
	return r;
}

static struct report_rows *new_rows(struct stacks *s, unsigned int keys)
{
	struct report_rows *r = report_rows_empty(s->labels, keys);

	r->stacks = s;
	return r;
}

/* Returns the label of the rows to which a frame with that label belongs. */
static uint32_t row_label(struct report_rows *r, uint32_t id)
{
	mem_reach(r->row_label, r->n_label, r->cap_label, (size_t)id + 1);
	if (r->row_label[id])
		return r->row_label[id] - 1;

	struct label l = *labels_get(r->names, id);

	/* a function has one row, even if some of its frames are bogus */
	if (l.kind == LABEL_BOGUS)
		l.kind = l.was;
	l.bogus = NULL;
	l.off = 0;
	l.has_off = false;
	if (!(r->keys & KEY_SYM) && r->keys & KEY_DSO) {
		if (l.image[0])
			l.name = l.image;
		l.kind = l.kind == LABEL_MISSING ? l.kind : LABEL_UNNAMED;
		l.kernel = false;
	}
	if (!(r->keys & KEY_DSO) || !(r->keys & KEY_SYM))
		l.image = "";
	r->row_label[id] = labels_add(r->labels, &l) + 1;
	return r->row_label[id] - 1;
}

/* Returns the row of a key, which is added if it is new. */
static struct report_row *row_for(struct report_rows *r,
				  const struct report_row *key)
{
	const unsigned int code =
		KEY_DSO | KEY_SYM | KEY_INLINED | KEY_HITS | KEY_GAPS;

	if (!(r->keys & ~code)) {
		/* The label alone is the key. A lookup in the index would take
		 * a third of the time of a report. */
		mem_reach(r->row_of, r->n_row_of, r->cap_row_of,
			  (size_t)key->label + 1);
		if (!r->row_of[key->label]) {
			*mem_add(r->row, r->n, r->cap) =
				(struct report_row){ .label = key->label };
			r->row_of[key->label] = (uint32_t)r->n;
		}
		return &r->row[r->row_of[key->label] - 1];
	}

	const uint64_t word[] = {
		(uint64_t)key->comm << 32 | key->label,
		(uint64_t)key->file << 32 | key->line,
		(uint64_t)key->pid,
		(uint64_t)key->tid,
		(uint64_t)key->verdict << 32 | (uint32_t)key->cpu,
		(uint64_t)key->field << 32 | key->trust,
	};
	uint32_t id = intern_add_bytes(&r->index, word, sizeof(word));

	if (id == r->n)
		*mem_add(r->row, r->n, r->cap) = *key;
	return &r->row[id];
}

/* Returns the key of a group's rows, all but the code. */
static struct report_row report_rows_key_of(struct report_rows *r,
					    const struct stacks_group *g)
{
	const struct stacks_comm *c = stacks_comm(r->stacks, g->comm);
	struct report_row key = { .least = g->least };

	if (r->keys & KEY_COMM) {
		char *role = r->keys & KEY_NODIGIT ? thread_names_role(c->name)
						   : NULL;

		key.comm = labels_add_name(r->labels, LABEL_GROUP,
					   role ?: c->name);
		free(role);
	}
	if (r->keys & KEY_PID)
		key.pid = c->pid;
	if (r->keys & KEY_TID)
		key.tid = c->tid;
	if (r->keys & KEY_CPU)
		key.cpu = g->cpu;
	if (r->keys & KEY_VERDICT)
		key.verdict = labels_add_name(r->labels, LABEL_GROUP,
					      stacks_verdict(g->verdict));
	if (r->keys & KEY_FIELD)
		key.field = labels_add_name(r->labels, LABEL_GROUP,
					    stacks_field(r->stacks, g));
	if (r->trust) {
		const char *word = trust_class(r->trust, g);

		key.trust = labels_add_name(r->labels, LABEL_GROUP,
					    word ? word : NO_CLASS);
	}
	return key;
}

/* Returns whether a frame stands for a missing caller: it has a row in a table
 * of callers, but it is no function that was sampled. */
static bool report_rows_is_gap(const struct label *l)
{
	return l->kind == LABEL_MISSING && !strcmp(l->name, STACK_NAMES_GAP);
}

/* Stores the frames of a group that have rows. */
static void report_rows_frames(const struct report_rows *r,
			       const struct stacks_group *g,
			       struct label_list *l)
{
	const struct labels *labels = r->stacks->labels;
	size_t n = 0;

	l->n = 0;
	stacks_get(r->stacks, g, l);
	for (size_t i = 0; i < l->n; i++)
		if (!labels_get(labels, l->label[i])->inlined ||
		    r->keys & KEY_INLINED)
			label_list_move(l, n++, i);
	l->n = n;
}

/* Fills in the code of a key, from the i-th frame of l. */
static void report_rows_key_code(struct report_rows *r,
				 const struct label_list *l, size_t i,
				 struct report_row *key)
{
	key->label = key->file = key->line = 0;
	if (r->keys & KEY_LINE) {
		const struct known_code *c = r->stacks->code;
		const struct code_frame *f = &c->frame[l->from[i].frame];
		const struct code_where *at = &f->at;

		/* code that was inlined there, and has no rows, still ran */
		if (l->from[i].inlined)
			at = &c->inlined[f->inlined + l->from[i].inlined - 1];
		else if (f->n_inlined && !(r->keys & KEY_INLINED))
			at = &c->inlined[f->inlined];
		if (at->file && at->file[0] && at->line) {
			key->file = labels_add_name(r->labels, LABEL_GROUP,
						    at->file);
			key->line = at->line;
			if (!(r->keys & (KEY_SYM | KEY_DSO)))
				return;
		}
	}
	key->label = row_label(r, l->label[i]);
}

static void report_rows_note_hit(struct report_rows *r, uint32_t group,
				 const struct report_row *row, bool self)
{
	if (r->keys & KEY_HITS)
		*mem_add(r->hit, r->n_hit, r->cap_hit) = (struct report_hit){
			.group = group,
			.row = (uint32_t)(row - r->row),
			.self = self,
		};
}

static bool report_rows_interrupted(const struct report_rows *r,
				    const struct label_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct label *own = labels_get(r->names, l->label[i]);

		if (own->kernel && interrupts_enter(own->name))
			return true;
	}
	return false;
}

/* Counts a stack. key: all but the code; l: its frames. */
static void report_rows_count_stack(struct report_rows *r, uint32_t group,
				    struct report_row key,
				    const struct label_list *l, uint64_t weight,
				    uint64_t samples)
{
	struct report_row *row = NULL;
	bool code = r->keys & (KEY_DSO | KEY_SYM | KEY_LINE);
	bool interrupt = r->keys & KEY_HITS && report_rows_interrupted(r, l);
	struct report_stack st = { 0, weight, samples, REPORT_NONE, false };
	uint64_t least = key.least;
	size_t n_user = 0;

	key.least = 0;
	r->stamp++;
	for (size_t i = 0; code && i < l->n; i++) {
		const struct label *own = labels_get(r->names, l->label[i]);

		st.lacks |= own->kind == LABEL_BOGUS || report_rows_is_gap(own);
		if (own->kind == LABEL_GROUP ||
		    (own->inlined && !(r->keys & KEY_INLINED)) ||
		    (report_rows_is_gap(own) && !(r->keys & KEY_GAPS)))
			continue;
		report_rows_key_code(r, l, i, &key);
		row = row_for(r, &key);
		if (!own->kernel && own->kind != LABEL_MISSING) {
			st.leaf = (uint32_t)(row - r->row);
			n_user++;
		}
		if (row->seen == r->stamp)
			continue;
		row->seen = r->stamp;
		row->total += weight;
		row->n_total += samples;
		row->n_interrupt += interrupt ? samples : 0;
		report_rows_note_hit(r, group, row, false);
	}
	if (!row) {
		if (code)
			key.label = labels_add_name(r->labels, LABEL_UNNAMED,
						    "[no stack]");
		row = row_for(r, &key);
		row->total += weight;
		row->n_total += samples;
		report_rows_note_hit(r, group, row, false);
	}
	row->self += weight;
	row->least += least;
	row->n_self += samples;
	report_rows_note_hit(r, group, row, true);
	st.end = r->n_hit;
	st.lacks |= n_user == 1;
	if (r->keys & KEY_HITS)
		*mem_add(r->stack, r->n_stack, r->cap_stack) = st;
	r->weight += weight;
	bool user = false;   /* a part of the user half is missing */
	bool kernel = false; /* a part of the kernel half is missing */
	bool half = false;   /* no frame of the user half is known */
	bool leaf = false;

	for (size_t i = 0; i < l->n; i++) {
		const struct label *own = labels_get(r->names, l->label[i]);
		bool missing =
			own->kind == LABEL_MISSING && !report_rows_is_gap(own);
		bool of_kernel = missing && !strncmp(own->name, "[kernel: ", 9);

		kernel |= of_kernel;
		user |= missing && !of_kernel;
		leaf = missing && !of_kernel;
		half = leaf || (half && (own->kernel || of_kernel));
	}
	r->missing.half += half ? samples : 0;
	r->missing.leaf += leaf ? samples : 0;
	r->missing.user += user ? samples : 0;
	r->missing.kernel += kernel ? samples : 0;
}

void report_rows_add(struct report_rows *r, uint32_t group,
		     const struct label_list *l, uint64_t weight,
		     uint64_t samples)
{
	report_rows_count_stack(r, group, (struct report_row){ 0 }, l, weight,
				samples);
}

/* Counts a chain for the totals of its frames. Returns the row of the innermost
 * one + 1; 0: it has none. */
static uint32_t report_rows_count_chain(struct report_rows *r,
					const struct stacks_group *g,
					uint32_t raw)
{
	const struct known_code *c = r->stacks->code;
	uint32_t inner = 0;

	for (uint32_t at = code_chain_at(c, raw)->stack; at;
	     at = c->stack[at].parent) {
		uint32_t frame = c->stack[at].frame;
		uint32_t *known = &r->row_of_frame[frame];
		struct report_row *row;

		if (!*known) {
			struct report_row key = { 0 };

			stack_names_label(r->stacks->names, frame, &key.label);
			key.label = row_label(r, key.label);
			row = row_for(r, &key); /* may move r->row */
			*known = (uint32_t)(row - r->row) + 1;
		}
		row = &r->row[*known - 1];
		inner = inner ? inner : *known;
		if (row->seen == r->stamp)
			continue;
		row->seen = r->stamp;
		row->total += g->weight;
		row->n_total += g->samples;
	}
	return inner;
}

struct report_rows *report_rows_new(struct stacks *s, int event,
				    unsigned int keys)
{
	return report_rows_classed(s, event, keys, NULL);
}

struct report_rows *report_rows_classed(struct stacks *s, int event,
					unsigned int keys, struct trust *trust)
{
	struct report_rows *r = new_rows(s, keys);
	struct label_list l = { .want_from = keys & KEY_LINE };

	r->trust = keys & KEY_TRUST ? trust : NULL;

	if (keys & (KEY_DSO | KEY_SYM) &&
	    !(keys & ~(unsigned int)(KEY_DSO | KEY_SYM | KEY_INLINED)))
		r->row_of_frame =
			mem_new(s->code->n_frame, sizeof(*r->row_of_frame));
	for (size_t i = 0; i < s->n_group; i++) {
		const struct stacks_group *g = &s->group[i];

		if ((event >= 0 && g->event != (uint32_t)event))
			continue;
		/* Counts a group as report_rows_count_stack() does, without
		 * a list of its labels, which took nine tenths of the time.
		 * Returns false if it cannot. */
		if (r->row_of_frame && stacks_plain(r->stacks, g)) {
			r->stamp++;

			uint32_t user = report_rows_count_chain(r, g, g->uraw);
			uint32_t kernel =
				report_rows_count_chain(r, g, g->kraw);
			uint32_t inner = kernel ? kernel : user;

			if (inner) {
				r->row[inner - 1].self += g->weight;
				r->row[inner - 1].least += g->least;
				r->row[inner - 1].n_self += g->samples;
				r->weight += g->weight;
				continue;
			}
		}
		report_rows_frames(r, g, &l);
		report_rows_count_stack(r, (uint32_t)i,
					report_rows_key_of(r, g), &l, g->weight,
					g->samples);
	}
	r->trust = NULL;
	free_all(l.label, l.from);
	return r;
}

/* Returns a label for the known function next to a missing caller: it must not
 * be taken for a direct caller or callee. */
static uint32_t report_rows_behind_gap(struct report_rows *r, uint32_t next,
				       bool callers)
{
	struct label l = *labels_get(r->labels, next);
	const char *form =
		callers ? STACK_NAMES_GAP " < %s" : STACK_NAMES_GAP " > %s";
	size_t n = strlen(form) + strlen(l.name) + strlen(label_shown(&l));
	struct text_out shown = { .buf = mem_new(n, 1), .size = n };
	struct text_out name = { .buf = mem_new(n, 1), .size = n };

	text_out_add(&shown, form, label_shown(&l));
	text_out_add(&name, form, l.name);
	next = labels_add_name(r->labels, LABEL_GROUP, shown.buf);
	l.shown = labels_get(r->labels, next)->name;
	l.name = name.buf;
	l.kind = LABEL_MISSING;
	next = labels_add(r->labels, &l);
	free_all(shown.buf, name.buf);
	return next;
}

/* Returns the label of the row for the frame next to func in the stack, or -1
 * if func is not in it. */
static int64_t neighbour(struct report_rows *r, const struct label_list *l,
			 const char *func, bool callers)
{
	const struct labels *labels = r->names;
	size_t at = l->n;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(labels_get(labels, l->label[i])->name, func))
			continue;
		at = i;
		if (callers)
			break;
	}
	if (at == l->n)
		return -1;
	if (!callers && at + 1 == l->n)
		return labels_add_name(r->labels, LABEL_GROUP, "[self]");
	if (callers && !at)
		return labels_add_name(r->labels, LABEL_GROUP, "[nobody]");

	size_t next = callers ? at - 1 : at + 1;

	/* a gap is never the last frame */
	if (report_rows_is_gap(labels_get(labels, l->label[next])))
		return report_rows_behind_gap(
			r,
			row_label(r, l->label[callers ? next - 1 : next + 1]),
			callers);
	if (!callers)
		return row_label(r, l->label[next]);

	const struct label *caller = labels_get(labels, l->label[next]);
	const struct label *own = labels_get(labels, l->label[at]);

	/* the program after an exec has no callers in this stack */
	if (caller->kind == LABEL_EXEC && own->kind != LABEL_EXEC)
		return labels_add_name(r->labels, LABEL_MISSING,
				       STACKS_AFTER_EXEC);
	return row_label(r, l->label[next]);
}

struct report_rows *report_around_new(struct stacks *s, int event,
				      const char *func, bool callers,
				      unsigned int keys)
{
	struct report_rows *r = new_rows(s, KEY_SYM | KEY_DSO | keys);
	struct label_list l = { 0 };

	stacks_each (g, s, event) {
		struct report_row key = { 0 };
		int64_t label;

		report_rows_frames(r, g, &l);
		label = neighbour(r, &l, func, callers);
		if (label < 0)
			continue;
		key.label = (uint32_t)label;

		struct report_row *row = row_for(r, &key);

		row->total += g->weight;
		row->n_total += g->samples;
		r->weight += g->weight;
	}
	free(l.label);
	return r;
}

struct order {
	const struct labels *labels;
	bool by_total;
};

#define COMPARE_LABELS(field)                                                  \
	label_compare(labels_get(of->labels, x->field),                        \
		      labels_get(of->labels, y->field))

/* The largest first. */
COMPARE_FUNCTION_OF(
	compare_rows, struct report_row, struct order,
	(of->by_total ? compare_numbers(y->total, x->total)
				?: compare_numbers(y->self, x->self)
		      : compare_numbers(y->self, x->self)
				?: compare_numbers(y->total, x->total))
		?: COMPARE_LABELS(comm)
		?: COMPARE_LABELS(label)
		?: COMPARE_LABELS(file)
		?: COMPARE_FIELDS(line, pid, tid, cpu)
		?: COMPARE_LABELS(verdict)
		?: COMPARE_LABELS(trust)
		?: COMPARE_LABELS(field));

void report_rows_sort(struct report_rows *r, bool by_total)
{
	struct order o = { r->labels, by_total };

	sort_items_by(r->row, r->n, compare_rows, &o);
	/* sorting invalidates the index */
	intern_release(&r->index);
	r->n_row_of = 0;
}

const struct label *report_label(const struct report_rows *r, uint32_t i)
{
	return labels_get(r->labels, i);
}

uint32_t report_rows_of_label(struct report_rows *r, uint32_t label)
{
	struct report_row key = { 0 };
	const struct report_row *row;

	if (label >= r->n_label || !r->row_label[label])
		return REPORT_NONE;
	key.label = r->row_label[label] - 1;
	row = row_for(r, &key); /* a label that was asked for has a row */
	return (uint32_t)(row - r->row);
}
