/* page_diff.c - what changed between two recordings, in the HTML page of the
 * second. */
#include "cli/pictures/page_diff.h"

#include <stdlib.h>

#include "cli/model/flame_tree.h"
#include "cli/model/label.h"
#include "cli/output/json.h"
#include "cli/pictures/diff_model.h"
#include "cli/pictures/flame_draw.h"
#include "cli/pictures/flame_opts.h"
#include "cli/pictures/page_bytes.h"
#include "cli/pictures/palette.h"
#include "stitch/base/mem.h"

struct page_diff {
	struct diff_model m;
};

struct page_diff *page_diff_new(const struct sides *s,
				const struct page_diff_opts *o, int *status,
				struct err *err)
{
	const struct svg_opts none = { .title = NULL };
	struct page_diff *p = mem_new(1, sizeof(*p));

	flame_opts.inlined = o->inlined;
	flame_opts.absolute = o->absolute;
	if (diff_model_read(&p->m, s, &none, status, err)) {
		page_diff_free(p);
		return NULL;
	}
	diff_model_judge(&p->m);
	return p;
}

void page_diff_free(struct page_diff *p)
{
	if (!p)
		return;
	diff_model_release(&p->m);
	free(p);
}

/* ---- the blocks */

/* [path, records lost, whether more are unknown, samples without user half] */
static void page_diff_put_side(const struct diff_model *m, int side,
			       struct json *j)
{
	const struct drawing *d = m->side[side];

	json_array(j, NULL);
	json_shown(j, NULL, m->path[side]);
	json_uint(j, NULL, d->lost);
	json_bool(j, NULL, d->lost_unknown);
	json_uint(j, NULL, m->unjoined[side]);
	json_end(j);
}

/* [name, class, kernel code, file], as in the labels of "meta" */
static void page_diff_put_label(const struct diff_model *m, uint32_t id,
				struct json *j)
{
	const struct label *l = labels_get(m->labels, id);
	char css_class[3];

	palette_class(l, css_class);
	json_array(j, NULL);
	json_shown(j, NULL, l->name);
	json_text(j, NULL, css_class);
	json_uint(j, NULL, l->kernel);
	json_shown(j, NULL, l->image);
	json_end(j);
}

/* [node, self: 1 more, -1 less, 0 not proved, p-value, how much larger in B
 * than the unchanged rest predicts, the same three of its total] of each node
 * with a significant change */
static void page_diff_put_changes(const struct diff_model *m, struct json *j)
{
	uint32_t number = 0;

	json_array(j, "changes");
	for (uint32_t id = 0; id != FLAME_NONE;
	     id = flame_tree_next(m->all, id, 0), number++) {
		if (!m->self[id].change && !m->total[id].change)
			continue;
		json_break(j);
		json_array(j, NULL);
		json_uint(j, NULL, number);
		json_int(j, NULL, m->self[id].change);
		json_real(j, NULL, m->self[id].p);
		json_real(j, NULL, diff_model_excess(m, id, false));
		json_int(j, NULL, m->total[id].change);
		json_real(j, NULL, m->total[id].p);
		json_real(j, NULL, diff_model_excess(m, id, true));
		json_end(j);
	}
	json_end(j);
}

static void page_diff_put_json(const struct diff_model *m, FILE *out)
{
	struct json j;

	fputs("<script type=\"application/json\" id=\"diff\">\n", out);
	json_open(&j, out, JSON_HTML);
	json_object(&j, NULL);
	json_shown(&j, "event", drawing_event(m->side[1]));
	json_bool(&j, "absolute", flame_opts.absolute);
	json_uint(&j, "nodes", flame_tree_count(m->all));
	json_array(&j, "sides");
	page_diff_put_side(m, 0, &j);
	page_diff_put_side(m, 1, &j);
	json_end(&j);
	json_array(&j, "labels");
	for (uint32_t i = 0; i < labels_count(m->labels); i++) {
		json_break(&j);
		page_diff_put_label(m, i, &j);
	}
	json_end(&j);
	page_diff_put_changes(m, &j);
	json_end(&j);
	fputs("\n</script>\n", out);
}

static const struct flame_node *page_diff_node(const struct diff_model *m,
					       int side, uint32_t id)
{
	static const struct flame_node none;
	uint32_t at = m->node[side][id];

	return at == FLAME_NONE ? &none
				: flame_tree_node(m->side[side]->tree, at);
}

void page_diff_write(const struct page_diff *p, FILE *out)
{
	const struct diff_model *m = &p->m;
	struct page_bytes b = { 0 };

	page_diff_put_json(m, out);
	for (uint32_t id = 0; id != FLAME_NONE;
	     id = flame_tree_next(m->all, id, 0)) {
		const struct flame_node *nd = flame_tree_node(m->all, id);

		page_bytes_add(&b, nd->depth);
		page_bytes_add(&b, nd->label);
		page_bytes_add(&b, page_diff_node(m, 0, id)->weight);
		page_bytes_add(&b, page_diff_node(m, 1, id)->weight);
		page_bytes_add(&b, page_diff_node(m, 0, id)->samples);
		page_bytes_add(&b, page_diff_node(m, 1, id)->samples);
		page_bytes_add(&b, m->self[id].skip);
	}
	page_bytes_write(&b, "diff_nodes", out);
	free(b.byte);
}
