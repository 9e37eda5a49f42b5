/* functions.c - two screens: the table of functions, whose rows open into
 * callers or callees, and the tree of all calls. */

#include "analyze/stacks/label.h"
#include "analyze/stacks/report_rows.h"
#include "stitch/text/cut.h"
#include "stitch/text/human.h"
#include "cli/view/cells.h"
#include "cli/view/screen.h"
#include "analyze/stacks/sums.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/base/search.h"

/* ---- the cursor in a list of lines, and sentences of replies */

bool list_key(struct list *l, int key, int rows)
{
	size_t page = rows > 1 ? (size_t)rows - 1 : 1;
	size_t last = l->n ? l->n - 1 : 0;

	switch (key) {
	case CELLS_UP:
	case 'k':
		l->at -= l->at > 0;
		return true;
	case CELLS_DOWN:
	case 'j':
		l->at += l->at < last;
		return true;
	case CELLS_PAGE_UP:
		l->at -= l->at < page ? l->at : page;
		return true;
	case CELLS_PAGE_DOWN:
	case ' ':
		l->at = last - l->at < page ? last : l->at + page;
		return true;
	case CELLS_FIRST:
	case '<':
		l->at = 0;
		return true;
	case CELLS_LAST:
	case '>':
		l->at = last;
		return true;
	default:
		return false;
	}
}

void list_go(struct list *l, size_t at)
{
	l->at = at;
	l->jumped = true;
}

void list_fit(struct list *l, int rows)
{
	size_t room = rows > 0 ? (size_t)rows : 1;

	if (l->n && l->at >= l->n)
		l->at = l->n - 1;
	if (l->jumped && (l->top > l->at || l->at - l->top >= room))
		l->top = l->at > room / 2 ? l->at - room / 2 : 0;
	l->jumped = false;
	if (l->top > l->at)
		l->top = l->at;
	if (l->at - l->top >= room)
		l->top = l->at - room + 1;
	/* no empty rows below while there are lines above */
	if (l->top && l->n - l->top < room)
		l->top = l->n > room ? l->n - room : 0;
}

void reply_say(struct reply *r, const char *text)
{
	snprintf(r->said, sizeof(r->said), "%s", text);
}

/* ---- rows that open into the rows below them: functions with their callers
 * or callees, or the tree of all calls */

#define OUTLINE_ROOT UINT32_MAX

struct outline_line {
	struct calls *tree; /* of its children; borrowed; NULL: not made */
	uint32_t node;	    /* in the tree */
	uint32_t row;	    /* of sums.rows; OUTLINE_ROOT: it is a node */
	uint32_t label;	    /* of a node, in sums.labels */
	uint32_t depth;
	uint64_t weight, self, samples;
	uint64_t parent; /* weight of its parent line, or of all */
	bool open, leaf; /* its children are shown; it has none */
};

struct outline {
	struct outline_line *line;
	size_t n, cap;
};

/* Inserts the children of a line, heaviest first, after it. The line must have
 * a tree. */
static void outline_open(struct outline *o, size_t at)
{
	const struct outline_line parent = o->line[at];
	const struct calls_node *nd = calls_split(parent.tree, parent.node);
	size_t n = nd->n_child;

	if (parent.open || !n)
		return;
	o->line[at].open = true;
	mem_grow(o->line, o->cap, o->n + n);

	struct outline_line *to = o->line + at + 1;

	memmove(to + n, to, (o->n - at - 1) * sizeof(*to));
	o->n += n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = nd->child + i;
		const struct calls_node *child = &parent.tree->node[id];

		to[i] = (struct outline_line){
			.tree = parent.tree,
			.node = id,
			.row = OUTLINE_ROOT,
			.label = child->label,
			.depth = parent.depth + 1,
			.weight = child->weight,
			.self = child->self,
			.samples = child->samples,
			.parent = parent.weight,
			.leaf = !child->goes_on,
		};
	}
}

/* Returns the parent of a line, or the line itself if it has none. */
static size_t outline_parent(const struct outline *o, size_t at)
{
	for (size_t i = at; i > 0; i--)
		if (o->line[i - 1].depth < o->line[at].depth)
			return i - 1;
	return at;
}

/* ---- the screen */

#define SHARES 17  /* cells of the shares in front of the name */
#define NUMBERS 29 /* and of the samples, where there is room */
#define IMAGE 18   /* cells of the image, where there is room */
#define INDENT 2
#define NARROW 60 /* columns: fewer have no image */
#define ROOMY                                                                  \
	100 /* columns: fewer have no samples in a tree, which indents         \
	     */

enum functions_order {
	BY_SELF,
	BY_TOTAL,
	BY_NAME,
	BY_IMAGE,
	ORDERS
};

static const char *const order_titles[ORDERS] = {
	"sorted by self", "sorted by total", "sorted by name", "sorted by image"
};

struct functions {
	struct screen screen;
	struct sums *sums;
	struct outline o;
	struct list list;
	bool is_tree, callees, of_parent;
	enum functions_order order;
	char *text;  /* only rows with it; NULL: all */
	char *image; /* only rows of it; NULL: all */
	struct calls **tree;
	size_t n_tree, cap_tree;
};

static const struct label *functions_label(const struct functions *f,
					   const struct outline_line *l)
{
	const struct report_rows *rows = f->sums->rows;

	return l->row == OUTLINE_ROOT
		       ? labels_get(f->sums->labels, l->label)
		       : report_label(rows, rows->row[l->row].label);
}

/* ---- rows */

static int functions_compare(const void *pa, const void *pb, void *arg)
{
	const struct functions *f = arg;
	const struct outline_line *a = pa;
	const struct outline_line *b = pb;
	const struct label *la = functions_label(f, a);
	const struct label *lb = functions_label(f, b);
	int d = 0;

	if (f->order == BY_NAME)
		d = strcmp(label_shown(la), label_shown(lb));
	else if (f->order == BY_IMAGE)
		d = strcmp(path_base(la->image), path_base(lb->image));
	else if (f->order == BY_TOTAL)
		d = compare_numbers(b->weight, a->weight);
	return d ?: compare_numbers(b->self, a->self)
		       ?: compare_numbers(b->weight, a->weight)
		       ?: label_compare(la, lb);
}

/* Rebuilds the list of functions, with all rows closed. */
static void functions_fill(struct functions *f)
{
	const struct report_rows *rows = f->sums->rows;

	f->o.n = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const struct report_row *row = &rows->row[i];
		const struct label *l = report_label(rows, row->label);

		if ((f->text && !sums_has(l, f->text)) ||
		    (f->image && strcmp(l->image, f->image) != 0))
			continue;
		*mem_add(f->o.line, f->o.n, f->o.cap) = (struct outline_line){
			.row = (uint32_t)i,
			.weight = row->total,
			.self = row->self,
			.samples = row->n_self,
			.parent = f->sums->weight,
		};
	}
	sort_items_by(f->o.line, f->o.n, functions_compare, f);
	f->list = (struct list){ .n = f->o.n };
}

/* ---- drawing */

static int functions_numbers(const struct functions *f, int columns)
{
	return columns < (f->is_tree ? ROOMY : NARROW) ? SHARES : NUMBERS;
}

static int functions_image(int columns)
{
	return columns < NARROW ? 0 : IMAGE;
}

/* Returns the column at which the name of a line begins. Its indent is limited,
 * so that names of deep lines stay readable. */
static int functions_from(const struct functions *f, size_t at, int columns)
{
	int from = functions_numbers(f, columns) +
		   (int)f->o.line[at].depth * INDENT;
	int most = columns - functions_image(columns) - CUT_LEAST - INDENT;

	return from < most ? from : most;
}

static void functions_draw_line(const struct functions *f, size_t at, int row,
				int columns, const char *name)
{
	const struct outline_line *l = &f->o.line[at];
	const struct label *label = functions_label(f, l);
	bool chosen = at == f->list.at;
	enum cells_style style = chosen ? CELLS_CHOSEN : CELLS_PLAIN;
	int numbers = functions_numbers(f, columns);
	int name_to = columns - functions_image(columns);
	int from = functions_from(f, at, columns);

	bool callers = l->row == OUTLINE_ROOT && !f->is_tree && !f->callees;
	uint64_t whole = f->of_parent ? l->parent : f->sums->weight;
	char text[80];

	snprintf(text, sizeof(text), "%7s  %7s %10s  ",
		 callers ? "" : HUMAN_SHARE(l->self, whole),
		 HUMAN_SHARE(l->weight, whole), HUMAN_GROUPED(l->samples));
	cells_put(row, 0, numbers, style, text);
	cells_put(row, numbers, from - numbers, style, "");
	cells_put(row, from, INDENT, style,
		  l->leaf   ? "  "
		  : l->open ? "- "
			    : "+ ");
	from += INDENT;
	cells_put(row, from, name_to - from,
		  chosen ? style
			 : (label->kind == LABEL_MISSING ? CELLS_MISSING
			    : label->kind == LABEL_BOGUS ? CELLS_WRONG
							 : CELLS_PLAIN),
		  name);
	cells_put(row, name_to, 1, style, "");
	cells_put_name(row, name_to + 1, IMAGE - 1, style,
		       label->inlined ? "(inlined)" : path_base(label->image));
}

/* Draws n lines from list.top on. Names that begin in the same column are cut
 * so that they differ. */
static void functions_draw_lines(const struct functions *f, size_t n,
				 const struct area *a)
{
	struct arena text RELEASED_BY(arena_release) = { NULL, 0 };
	struct cut_name *cut OWNED = mem_new(n, sizeof(*cut));
	size_t *line OWNED = mem_new(n, sizeof(*line));
	int to = a->columns - functions_image(a->columns);
	int next = 0; /* the leftmost column that has not been drawn */

	while (next < to) {
		int from = next;
		size_t same = 0;

		next = to;
		for (size_t i = 0; i < n; i++) {
			size_t at = f->list.top + i;
			int begin = functions_from(f, at, a->columns);

			if (begin > from && begin < next)
				next = begin;
			if (begin != from)
				continue;
			cut[same] = (struct cut_name){
				.full = label_shown(
					functions_label(f, &f->o.line[at]))
			};
			line[same++] = i;
		}
		if (same)
			cut_names(cut, same, (size_t)(to - from - INDENT),
				  &text);
		for (size_t i = 0; i < same; i++)
			functions_draw_line(f, f->list.top + line[i],
					    a->top + 1 + (int)line[i],
					    a->columns, cut[i].cut);
	}
}

static void functions_draw(struct screen *s, const struct area *a)
{
	struct functions *f = (void *)s;
	int numbers = functions_numbers(f, a->columns);
	char head[160];

	snprintf(head, sizeof(head), "%7s  %7s %10s", "Self %", "Total %",
		 "Samples");
	cells_put(a->top, 0, numbers, CELLS_BOLD, head);
	cells_put(a->top, numbers, a->columns - numbers, CELLS_BOLD,
		  "  Function");
	if (functions_image(a->columns))
		cells_put(a->top, a->columns - IMAGE + 1, IMAGE - 1, CELLS_BOLD,
			  "Image");
	list_fit(&f->list, a->rows - 1);

	size_t left = f->o.n - f->list.top;
	size_t room = (size_t)(a->rows - 1);

	if (f->o.n)
		functions_draw_lines(f, left < room ? left : room, a);
}

/* ---- keys */

static void functions_open(struct functions *f, bool hot, struct reply *out)
{
	size_t at = f->list.at;
	struct outline_line *l = &f->o.line[at];

	if (!l->tree) {
		l->tree = f->callees ? sums_callees(f->sums, l->row)
				     : sums_callers(f->sums, l->row);
		*mem_add(f->tree, f->n_tree, f->cap_tree) = l->tree;
		l->leaf = !l->tree->node[0].goes_on;
	}
	if (l->leaf)
		reply_say(out, f->is_tree || f->callees ? "it calls nothing"
							: "it has no caller");
	else if (hot) {
		/* open the line, then its heaviest child, and so on while that
		 * has at least half of the first line's weight */
		size_t place = at;
		uint64_t half = f->o.line[place].weight / 2;

		while (!f->o.line[place].leaf &&
		       f->o.line[place].weight >= half) {
			outline_open(&f->o, place);
			if (place + 1 >= f->o.n ||
			    f->o.line[place + 1].depth <=
				    f->o.line[place].depth ||
			    f->o.line[place + 1].weight < half)
				break;
			place++;
		}
		f->list.at = place;
	} else
		outline_open(&f->o, at);
	f->list.n = f->o.n;
}

static void functions_close(struct functions *f)
{
	if (f->o.line[f->list.at].open) {
		/* remove the line's descendants */
		size_t at = f->list.at;
		size_t end = at + 1;

		while (end < f->o.n &&
		       f->o.line[end].depth > f->o.line[at].depth)
			end++;
		memmove(f->o.line + at + 1, f->o.line + end,
			(f->o.n - end) * sizeof(*f->o.line));
		f->o.n -= end - at - 1;
		f->o.line[at].open = false;
	} else
		f->list.at = outline_parent(&f->o, f->list.at);
	f->list.n = f->o.n;
}

/* Switches between callers and callees, and stays at the same function. */
static void functions_turn(struct functions *f, struct reply *out)
{
	size_t at = f->list.at;

	while (f->o.line[at].depth)
		at = outline_parent(&f->o, at);
	uint32_t row = f->o.line[at].row;
	bool open = f->o.line[at].open;
	f->callees = !f->callees;
	functions_fill(f);
	while (f->o.line[f->list.at].row != row)
		f->list.at++;
	if (open)
		functions_open(f, false, out);
	reply_say(out, f->callees ? "rows open into what they call"
				  : "rows open into their callers");
}

/* Limits the functions to the image of the current one, or shows all again. */
static void functions_turn_image(struct functions *f, struct reply *out)
{
	char *old = f->image;

	f->image = old ? NULL
		       : mem_strdup(functions_label(f, &f->o.line[f->list.at])
					    ->image);
	free(old);
	functions_fill(f);
	reply_say(out,
		  f->image ? "only functions of this image; d shows all again"
			   : "functions of all images");
}

static bool functions_key(struct screen *s, int key, const struct area *a,
			  struct reply *out)
{
	struct functions *f = (void *)s;

	if (!f->o.n)
		return false;
	if (list_key(&f->list, key, a->rows - 1))
		return true;
	switch (key) {
	case CELLS_ENTER:
	case 'e':
		if (f->o.line[f->list.at].open)
			functions_close(f);
		else
			functions_open(f, false, out);
		return true;
	case CELLS_RIGHT:
	case '+':
		functions_open(f, false, out);
		return true;
	case CELLS_LEFT:
	case '-':
		functions_close(f);
		return true;
	case 'h':
		functions_open(f, true, out);
		return true;
	case 'p':
		f->of_parent = !f->of_parent;
		reply_say(out, f->of_parent ? "percent of the row above"
					    : "percent of all");
		return true;
	default:
		/* keys of the table of functions only */
		if (f->is_tree)
			return false;
		switch (key) {
		case 'c':
			functions_turn(f, out);
			return true;
		case 's':
			f->order = (f->order + 1) % ORDERS;
			functions_fill(f);
			reply_say(out, order_titles[f->order]);
			return true;
		case 'd':
			functions_turn_image(f, out);
			return true;
		default:
			return false;
		}
	}
}

static const char *functions_function(struct screen *s)
{
	struct functions *f = (void *)s;

	if (!f->o.n)
		return NULL;
	const struct label *l = functions_label(f, &f->o.line[f->list.at]);
	return l->kind == LABEL_GROUP || l->kind == LABEL_MISSING ||
			       l->kind == LABEL_WAIT
		       ? NULL
		       : l->name;
}

static bool functions_find(struct screen *s, const char *text, bool back)
{
	struct functions *f = (void *)s;
	bool same = f->text && !strcmp(f->text, text);

	if (f->is_tree || same)
		return !*text ||
		       list_find(&f->list, back, at,
				 sums_has(functions_label(f, &f->o.line[at]),
					  text));
	free(f->text);
	f->text = *text ? mem_strdup(text) : NULL;
	functions_fill(f);
	return f->o.n > 0;
}

static void functions_go(struct screen *s, const char *name)
{
	struct functions *f = (void *)s;

	for (size_t i = 0; i < f->o.n; i++)
		if (!strcmp(functions_label(f, &f->o.line[i])->name, name)) {
			list_go(&f->list, i);
			return;
		}
}

static void functions_free(struct screen *s)
{
	struct functions *f = (void *)s;

	for (size_t i = 0; i < f->n_tree; i++)
		calls_free(f->tree[i]);
	free(f->tree);
	free_all(f->o.line, f->text, f->image, f->screen.title, f);
}

static const struct screen_ops functions_ops = {
	.keys = "Enter callers  c callees  s sort  h hot path  p percent  "
		"d image  a code",
	.draw = functions_draw,
	.key = functions_key,
	.find = functions_find,
	.go = functions_go,
	.function = functions_function,
	.command = { "report", "--limit", "0" },
	.free = functions_free,
};

static const struct screen_ops tree_ops = {
	.keys = "Enter open  h hot path  p percent  a code",
	.draw = functions_draw,
	.key = functions_key,
	.find = functions_find,
	.function = functions_function,
	.command = { "report", "-g", "--limit", "0" },
	.free = functions_free,
};

static struct functions *
functions_make(struct sums *s, const struct screen_ops *ops, const char *title)
{
	struct functions *f = mem_new(1, sizeof(*f));

	f->screen.ops = ops;
	f->screen.title = mem_strdup(title);
	f->sums = s;
	return f;
}

struct screen *functions_screen(struct sums *s)
{
	struct functions *f = functions_make(s, &functions_ops, "functions");

	functions_fill(f);
	return &f->screen;
}

struct screen *tree_screen(struct sums *s)
{
	struct calls *t = sums_tree(s);
	struct functions *f = functions_make(s, &tree_ops, "tree of calls");
	const struct calls_node *root = &t->node[0];

	f->is_tree = true;
	*mem_add(f->tree, f->n_tree, f->cap_tree) = t;
	*mem_add(f->o.line, f->o.n, f->o.cap) = (struct outline_line){
		.tree = t,
		.row = OUTLINE_ROOT,
		.label = root->label,
		.weight = root->weight,
		.self = root->self,
		.samples = root->samples,
		.parent = root->weight,
		.leaf = !root->goes_on,
	};
	outline_open(&f->o, 0);
	f->list.n = f->o.n;
	return &f->screen;
}
