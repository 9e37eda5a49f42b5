/* path.c - the answers of the command path: which one the options ask for. */
#include "cli/tables/path.h"

#include "cli/command.h"
#include "cli/model/causes.h"
#include "cli/model/label.h"
#include "cli/model/stacks.h"
#include "cli/model/wait_cause.h"
#include "cli/output/json.h"

static int path_one(struct path_run *r, struct err *err)
{
	uint32_t thread = path_asker(r, err);
	struct json j;
	int rc;

	if (thread == TIMELINE_NONE)
		return -1;
	if (!r->o->json)
		return path_screen(r, thread, r->o->from, r->o->to, err);
	json_answer(&j, stdout, JSON_PRETTY);
	rc = path_json(r, &j, thread, r->o->from, r->o->to, err);
	json_end(&j);
	json_newline(&j);
	return rc;
}

static int path_answer(struct path_run *r, struct err *err)
{
	if (r->o->blame)
		return path_blame(r, err);
	if (r->o->tree)
		return path_tree(r, err);
	if (r->o->timed && !r->o->worst && !r->o->waits)
		return path_one(r, err);
	return path_waits(r, err);
}

int path_print(struct store *db, const char *path, const struct path_opts *o,
	       struct err *err)
{
	struct path_run r = {
		.db = db, .path = path, .o = o, .labels = labels_new()
	};
	const struct stacks_opts so = {
		.inlined = true,
		.labels = r.labels,
		.no_groups = true,
	};
	int rc = -1;

	r.stacks = stacks_load(db, &so, err);
	if (r.stacks) {
		labels_shorten(r.labels);
		r.words = wait_causes_new(r.stacks);
		r.causes = causes_load(db, path, r.words, err);
	}
	if (r.causes) {
		r.t = causes_timeline(r.causes);
		r.proofs = proofs_new(r.t);
		rc = path_answer(&r, err);
	}
	if (!rc && o->fail >= 0 &&
	    (double)r.unknown * 100 > (double)o->fail * (double)r.asked)
		rc = STATUS_LOSS;
	proofs_free(r.proofs);
	causes_free(r.causes);
	wait_causes_free(r.words);
	stacks_free(r.stacks);
	labels_free(r.labels);
	return rc;
}
