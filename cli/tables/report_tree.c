/* report_tree.c - the call tree below a table of report. */

#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/tables/report.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* What has less than this part of all is left out: 0.5 %. */
#define PRUNED_OF 200

/* A node to print, or those of its siblings that are left out. */
struct tree_line {
	const struct flame_node *node; /* NULL: left out */
	uint64_t weight;
	size_t n, depth;
};

/* The heaviest is the last, from where lines are taken. */
COMPARE_FUNCTION(report_tree_compare, struct tree_line,
		 compare_numbers(x->node->weight, y->node->weight)
			 ?: compare_numbers(y->node->label, x->node->label));

/* The lines that are still to be printed, the next one last. */
struct tree_todo {
	struct tree_line *line;
	size_t n, cap;
};

static void report_tree_add(const struct report *rp, const struct flame_tree *t,
			    const struct flame_node *at, size_t depth,
			    struct tree_todo *todo)
{
	struct tree_line rest = { .depth = depth };
	size_t rest_at = todo->n;

	*mem_add(todo->line, todo->n, todo->cap) = rest;
	size_t first = todo->n;
	for (uint32_t i = 0; i < at->n_child; i++) {
		const struct flame_node *nd = &t->node[t->child[at->child + i]];

		if (nd->weight < rp->weight / PRUNED_OF) {
			rest.weight += nd->weight;
			rest.n++;
		} else {
			*mem_add(todo->line, todo->n, todo->cap) =
				(struct tree_line){ nd, nd->weight, 1, depth };
		}
	}
	sort_items(todo->line + first, todo->n - first, report_tree_compare);
	todo->line[rest_at] = rest;
}

static void report_tree_put(const struct report *rp,
			    const struct tree_line *line)
{
	const struct flame_node *nd = line->node;

	printf("%7s  %7s  %*s", HUMAN_SHARE(line->weight, rp->weight),
	       nd && !rp->o->inverted ? HUMAN_SHARE(nd->self, rp->weight) : "",
	       (int)line->depth, "");
	if (nd) {
		const struct label *l =
			labels_get(rp->stacks->labels, nd->label);

		safe_text_put(stdout, label_shown(l), 0, 0);
		fputs(l->inlined ? " (inlined)\n" : "\n", stdout);
	} else {
		printf("[%zu more]\n", line->n);
	}
}

static void report_tree_json(const struct report *rp,
			     const struct tree_line *line, struct json *j)
{
	const struct flame_node *nd = line->node;

	json_object(j, NULL);
	json_uint(j, "depth", line->depth);
	if (nd) {
		const struct label *l =
			labels_get(rp->stacks->labels, nd->label);

		json_text(j, "symbol", l->name);
		json_text(j, "kind", label_kind_name(l->kind));
		json_text(j, "image", l->image);
		json_text(j, "short", label_shown(l));
		if (!rp->o->inverted)
			json_uint(j, "self_weight", nd->self);
	} else {
		json_uint(j, "left_out", line->n);
	}
	json_uint(j, "total_weight", line->weight);
	json_end(j);
}

/* Says why the numbers of the tree differ from those of the table above it. */
static void report_tree_tell_inlined(const struct report *rp,
				     const struct flame_tree *t)
{
	const struct labels *labels = rp->stacks->labels;

	if (rp->o->keys & KEY_INLINED || rp->o->off_cpu)
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		if (!labels_get(labels, t->node[i].label)->inlined)
			continue;
		fputs("inlined functions have lines of their own here; the "
		      "table counts them in the\nfunctions that contain "
		      "them, unless --inline is given\n",
		      stdout);
		return;
	}
}

int report_put_tree(const struct report *whole, const struct label *func,
		    struct json *j, struct err *err)
{
	struct report part = *whole;
	const struct report *rp = &part;
	struct labels *labels = rp->stacks->labels;
	struct flame_tree *t = flame_tree_new(labels);
	struct wait_causes *waits =
		rp->o->off_cpu ? wait_causes_new(rp->stacks) : NULL;
	struct label_list l = { 0 };
	int rc = 0;

	part.weight = func ? 0 : rp->weight;
	stacks_each (g, rp->stacks, rp->event) {
		l.n = 0;
		stacks_get(rp->stacks, g, &l);
		size_t out = 0;

		while (func && out < l.n &&
		       strcmp(labels_get(labels, l.label[out])->name,
			      func->name) != 0)
			out++;
		if (func && out == l.n)
			continue;
		part.weight += func ? g->weight : 0;
		if (waits)
			wait_causes_cut(waits, &l);
		if (rp->o->inverted)
			label_list_reverse(&l, 0);
		rc = flame_tree_add(t, l.label + out, l.n - out, g->weight,
				    g->samples, err);
		if (rc)
			break;
	}
	free(l.label);
	wait_causes_free(waits);

	if (!rc) {
		flame_tree_finish(t);
		/* A line knows its depth: in JSON too, as readers of JSON
		 * limit how deep arrays may be, and stacks are deeper. */
		struct tree_todo todo = { .line = NULL };

		if (j) {
			json_array(j, "tree");
			json_lines(j);
		} else {
			printf("\n%s:\n",
			       func ? "its calls, as shares of it"
			       : rp->o->off_cpu
				       ? "where threads waited, with its callers below it"
			       : rp->o->inverted
				       ? "what was hit, with its callers below it"
				       : "calls, from the outermost caller down");
			report_tree_tell_inlined(rp, t);
			printf("\n%7s  %7s  %s\n", "Total %",
			       rp->o->inverted ? "" : "Self %", "Function");
		}
		report_tree_add(rp, t, &t->node[0], 0, &todo);
		while (todo.n) {
			struct tree_line line = todo.line[--todo.n];

			if (!line.weight)
				continue;
			if (j)
				report_tree_json(rp, &line, j);
			else
				report_tree_put(rp, &line);
			if (line.node &&
			    (!rp->o->depth || line.depth + 1 < rp->o->depth))
				report_tree_add(rp, t, line.node,
						line.depth + 1, &todo);
		}
		if (j)
			json_end(j);
		free(todo.line);
	}
	flame_tree_free(t);
	return rc;
}
