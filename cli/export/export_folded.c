/* export_folded.c - folded stacks, for flamegraph.pl and other tools. */
#include <stdlib.h>

#include "cli/export/export.h"
#include "analyze/stacks/flame_tree.h"
#include "cli/export/folded.h"
#include "cli/output/say.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/traced.h"

static int write_folded(FILE *out, const struct export_request *x,
			struct err *err)
{
	const struct stacks_opts o = { .filter = x->filter,
				       .names = x->names,
				       .by_name = true,
				       .gaps = true,
				       .inlined = x->inlined,
				       .samples = x->samples,
				       .summed = true };
	struct stacks *s = stacks_load(x->db, &o, err);
	struct label_list l = { 0 };
	int rc = 0;

	if (!s || traced_add_to(x->db, x->path, x->filter, s, err)) {
		stacks_free(s);
		return -1;
	}
	struct flame_tree *t = flame_tree_new(s->labels);
	int event = say_choice(s, "exporting");
	uint64_t weight = 0, samples = 0;

	/* without samples the file is empty; with them it must not be */
	if (stacks_whole(s, event, x->path, "use --by samples", &weight,
			 &samples, err) &&
	    samples) {
		flame_tree_free(t);
		stacks_free(s);
		return -1;
	}
	stacks_each (g, s, event) {
		l.n = 0;
		label_list_add(&l,
			       labels_add_name(s->labels, LABEL_GROUP,
					       stacks_comm(s, g->comm)->name));
		stacks_get(s, g, &l);
		rc = flame_tree_add(t, l.label, l.n, g->weight, g->samples,
				    err);
		if (rc)
			break;
	}
	if (!rc) {
		flame_tree_finish(t);
		rc = folded_write(out, t, err);
	}
	free(l.label);
	flame_tree_free(t);
	stacks_free(s);
	return rc;
}

const struct exporter export_folded = {
	.summary = "one line for each stack, outermost first, and its weight: "
		   "for flamegraph.pl and many others",
	.sums = true,
	.write = write_folded,
};
