/* flame.c - the screen with the flame graph in cells: outermost frames above,
 * what they call below them. */

#include "analyze/stacks/label.h"
#include "stitch/text/human.h"
#include "cli/view/cells.h"
#include "cli/view/screen.h"
#include "analyze/stacks/sums.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"

struct flame {
	struct screen screen;
	struct sums *sums;
	struct calls *tree;
	uint32_t zoom, at; /* nodes: as wide as the screen; under the cursor */
	uint32_t top;	   /* depth of the first row */
	char *text;	   /* that is searched for; NULL: none */
	uint64_t found;	   /* weight of the stacks that contain text */
};

static const struct label *flame_label(const struct flame *f, uint32_t id)
{
	return labels_get(f->sums->labels, f->tree->node[id].label);
}

static bool flame_is_found(const struct flame *f, uint32_t id)
{
	return f->text && sums_has(flame_label(f, id), f->text);
}

/* ---- drawing */

static enum cells_style flame_style(const struct flame *f, uint32_t id)
{
	const struct label *l = flame_label(f, id);

	if (flame_is_found(f, id))
		return CELLS_BAR_FOUND;
	switch (l->kind) {
	case LABEL_KERNEL:
		return CELLS_BAR_KERNEL;
	case LABEL_JIT:
		return CELLS_BAR_JIT;
	case LABEL_MISSING:
	case LABEL_BOGUS:
		return CELLS_BAR_MISSING;
	case LABEL_GROUP:
	case LABEL_UNNAMED:
		return CELLS_BAR_UNNAMED;
	default:
		return CELLS_BAR_USER;
	}
}

/* A node, and the part of the screen's width that it takes. */
struct flame_bar {
	uint32_t id;
	double from, to;
};

static void flame_draw_bar(const struct flame *f, const struct flame_bar *b,
			   const struct area *a)
{
	const struct calls_node *nd = &f->tree->node[b->id];
	int row = a->top + (int)nd->depth - (int)f->top;
	int from = (int)(b->from + 0.5);
	int to = (int)(b->to + 0.5);

	if (nd->depth < f->top || row >= a->top + a->rows || to <= from)
		return;
	/* a blank between neighbours of one kind */
	if (to - from > 1)
		to--;
	/* a bar of one cell gets no name */
	cells_put_name(row, from, to - from,
		       b->id == f->at ? CELLS_BAR_CHOSEN
				      : flame_style(f, b->id),
		       to - from > 1 ? label_shown(flame_label(f, b->id)) : "");
}

static void flame_draw_chosen(const struct flame *f, int row, int columns)
{
	const struct calls_node *nd = &f->tree->node[f->at];
	const struct label *l = flame_label(f, f->at);
	uint64_t whole = f->sums->weight;
	char text[512];
	int len;

	len = snprintf(
		text, sizeof(text),
		"%s, self %s, %s %s%s: ", HUMAN_PERCENT(nd->weight, whole),
		HUMAN_PERCENT(nd->self, whole), HUMAN_GROUPED(nd->samples),
		sums_word(f->sums), nd->samples == 1 ? "" : "s");
	if (f->text)
		len = snprintf(text, sizeof(text), "found %s; %s of all: ",
			       HUMAN_PERCENT(f->found, whole),
			       HUMAN_PERCENT(nd->weight, whole));
	cells_put(row, 0, columns, CELLS_BOLD, text);
	cells_put_name(row, len, columns - len, CELLS_BOLD, label_shown(l));
	len += (int)strlen(label_shown(l)) + 2;
	if (len < columns && l->image[0])
		cells_put(row, len, columns - len, CELLS_DIM,
			  path_base(l->image));
}

static void flame_draw(struct screen *s, const struct area *a)
{
	struct flame *f = (void *)s;
	const struct area bars = { a->top + 1, a->rows - 1, a->columns };
	uint32_t depth = f->tree->node[f->at].depth;
	struct flame_bar *todo OWNED = NULL;
	size_t n = 0, cap = 0;

	if (depth < f->top)
		f->top = depth;
	if (depth - f->top >= (uint32_t)bars.rows)
		f->top = depth - (uint32_t)bars.rows + 1;
	flame_draw_chosen(f, a->top, a->columns);
	/* the callers of the zoomed node are as wide as that node */
	for (uint32_t id = f->zoom; id != CALLS_NONE;
	     id = f->tree->node[id].parent)
		flame_draw_bar(f, &(struct flame_bar){ id, 0, a->columns + 1 },
			       &bars);
	/* then its callees, without those narrower than half a cell */
	*mem_add(todo, n, cap) =
		(struct flame_bar){ f->zoom, 0, a->columns + 1 };
	while (n) {
		const struct flame_bar b = todo[--n];
		const struct calls_node *nd = &f->tree->node[b.id];

		flame_draw_bar(f, &b, &bars);
		if (!nd->weight ||
		    nd->depth + 1 >= f->top + (uint32_t)bars.rows)
			continue;
		nd = calls_split(f->tree, b.id);

		double cells = (b.to - b.from) / (double)nd->weight;
		double x = b.from;

		for (uint32_t i = 0; i < nd->n_child; i++) {
			uint32_t id = nd->child + i;
			double w = cells * (double)f->tree->node[id].weight;

			/* children are sorted, the heaviest first */
			if (w < 0.5)
				break;
			*mem_add(todo, n, cap) =
				(struct flame_bar){ id, x, x + w };
			x += w;
		}
	}
}

/* ---- keys */

/* Returns the heaviest child; the node itself if there is none. */
static uint32_t flame_heaviest(struct flame *f, uint32_t id)
{
	const struct calls_node *nd = calls_split(f->tree, id);

	return nd->n_child ? nd->child : id;
}

/* Returns the next node of the same parent, or the node itself. */
static uint32_t flame_sibling(const struct flame *f, uint32_t id, bool left)
{
	uint32_t parent = f->tree->node[id].parent;

	if (parent == CALLS_NONE)
		return id;
	const struct calls_node *p = &f->tree->node[parent];
	if (left)
		return id > p->child ? id - 1 : id;
	return id + 1 < p->child + p->n_child ? id + 1 : id;
}

static bool flame_key(struct screen *s, int key, const struct area *a UNUSED,
		      struct reply *out UNUSED)
{
	struct flame *f = (void *)s;
	uint32_t parent = f->tree->node[f->at].parent;

	switch (key) {
	case CELLS_UP:
		f->at = parent == CALLS_NONE ? f->at : parent;
		if (f->tree->node[f->at].depth < f->tree->node[f->zoom].depth)
			f->zoom = f->at;
		return true;
	case CELLS_DOWN:
		f->at = flame_heaviest(f, f->at);
		return true;
	case CELLS_LEFT:
	case CELLS_RIGHT:
		if (f->at != f->zoom)
			f->at = flame_sibling(f, f->at, key == CELLS_LEFT);
		return true;
	case CELLS_ENTER:
	case '+':
		f->zoom = f->at;
		return true;
	case CELLS_BACKSPACE:
	case '-':
		f->zoom = 0;
		return true;
	case CELLS_FIRST:
		f->zoom = f->at = 0;
		return true;
	case 'h':
		while (flame_heaviest(f, f->at) != f->at)
			f->at = flame_heaviest(f, f->at);
		return true;
	default:
		return false;
	}
}

/* Searches only nodes that were made: those that were shown, or their like. */
static bool flame_find(struct screen *s, const char *text, bool back)
{
	struct flame *f = (void *)s;
	uint32_t n = (uint32_t)f->tree->n_node;

	if (!f->text || strcmp(f->text, text) != 0) {
		free(f->text);
		f->text = *text ? mem_strdup(text) : NULL;
		f->found = *text ? sums_find(f->sums, text) : 0;
	}
	for (uint32_t i = 1; f->text && i <= n; i++) {
		uint32_t id = (f->at + (back ? n - i : i)) % n;

		if (flame_is_found(f, id)) {
			f->at = id;
			f->zoom = 0;
			break;
		}
	}
	return !f->text || f->found;
}

static const char *flame_function(struct screen *s)
{
	struct flame *f = (void *)s;
	const struct label *l = flame_label(f, f->at);

	return l->kind == LABEL_GROUP || l->kind == LABEL_MISSING ? NULL
								  : l->name;
}

static void flame_free(struct screen *s)
{
	struct flame *f = (void *)s;

	calls_free(f->tree);
	free_all(f->text, f->screen.title, f);
}

static const struct screen_ops flame_ops = {
	.keys = "arrows move  Enter zoom  Backspace all  h hot path  a code",
	.draw = flame_draw,
	.key = flame_key,
	.find = flame_find,
	.function = flame_function,
	.command = { "report", "-g" },
	.free = flame_free,
};

struct screen *flame_screen(struct sums *s)
{
	struct flame *f = mem_new(1, sizeof(*f));

	f->screen.ops = &flame_ops;
	f->screen.title = mem_strdup("flame graph");
	f->sums = s;
	f->tree = sums_tree(s);
	return &f->screen;
}
