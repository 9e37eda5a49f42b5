/* callsites_ends.c - a file whose functions set no frame pointer is stored, or
 * the reason why not is told. */
#include <stdio.h>
#include <string.h>

#include "analyze/callsites/callsites_pass.h"
#include "analyze/names/bare_code.h"
#include "schema/db/db.h"
#include "schema/maker.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/tasks/frame.h"
#include "tests/unit/run.h"
#include "tests/unit/scratch.h"

static struct err err;

/* Stores what is counted of the only image. */
static int put_shares(struct maker *mk)
{
	struct bare_code code = { .n_image = 2, .n_stack = 1 };
	struct place place[] = { { 0 }, { .functions = 7, .framed = 3 } };
	struct pass p = { .mk = mk, .code = &code, .place = place };

	return callsites_put_shares(&p, &err);
}

START_TEST(a_share_that_cannot_be_stored_is_an_error)
{
	const struct maker_opts o = { 0 };
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct maker *mk;
	char dir[64], path[96];

	scratch_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/x.db", dir);
	mk = maker_create(path, &o, fr, &err);
	ck_assert_msg(mk && !put_shares(mk), "%s", err.msg);
	ck_assert(!guard_reading(maker_read(mk, &err), &err));
	ck_assert_msg(put_shares(mk) == -1, "%s", err.msg);
	ck_assert_msg(strstr(err.msg, "not authorized") != NULL, "%s", err.msg);
	maker_free(mk);
	ledger_free(lg);
	frames_free(fr);
	scratch_remove(dir);
}
END_TEST

RUN("callsites_ends", a_share_that_cannot_be_stored_is_an_error)
