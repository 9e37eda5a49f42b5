/* push.c - the command that sends runs to a ClickHouse server. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/clickhouse/clickhouse.h"
#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "cli/output/say.h"
#include "cli/push/push.h"
#include "cli/push/push_server.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/now.h"

static bool create, json, quiet;
static const char *cluster;
static struct opt_list servers;
static struct push_options how = { .progress = true };
static long connections = 4, retry = 60;

static const struct opt opts[] = {
	OPT_HEADING("What is sent"),
	OPT_FLAG(0, "create", &create,
		 "make the tables, and columns that older ones lack"),
	OPT_STRING(0, "cluster", "NAME", &cluster,
		   "with --create: tables over the servers of that cluster"),
	OPT_LIST(0, "server", "URL", &servers,
		 "another server of the cluster; may be given several times"),
	OPT_FLAG(0, "dry-run", &how.dry_run,
		 "only tell what would be sent, as the server says what it "
		 "has; with --create, print the statements"),
	OPT_FLAG(0, "replace", &how.replace,
		 "replace runs that are there with other rows"),
	OPT_FLAG(0, "event-fields", &how.fields,
		 "send the fields of events too"),
	OPT_NUMBER(0, "connections", "N", &connections,
		   "inserts at a time; 4 if not given"),
	OPT_NUMBER(0, "retry", "SECONDS", &retry,
		   "try again for so long while the server is away or busy; "
		   "60 if not given"),
	OPT_HEADING("Output"),
	OPT_FLAG('q', "quiet", &quiet, "no summary"),
	OPT_FLAG(0, "json", &json, "print the summary as JSON"),
	OPT_GROUP(clickhouse_opts),
	OPT_GROUP(fleet_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* Prints the summary of a push, which took so many seconds. */
static void push_tell(const char *name, const struct push_counts *c,
		      double seconds)
{
	say("%s: %" PRIu64 " run%s%s", name, c->runs, c->runs == 1 ? "" : "s",
	    how.dry_run ? " to send" : "");
	if (c->there)
		say(", %" PRIu64 " there already", c->there);
	if (c->other)
		say(", %" PRIu64 " there with other rows", c->other);
	say("\n");
	if (c->sample_rows && c->samples > c->sample_rows)
		say("%s samples in %s rows, %.1f each\n",
		    HUMAN_GROUPED(c->samples), HUMAN_GROUPED(c->sample_rows),
		    (double)c->samples / (double)c->sample_rows);
	if (!c->runs && !c->stacks_sent && !c->names_sent)
		return;
	say("%s %s of %s rows in %" PRIu64 " block%s",
	    how.dry_run ? "would send" : "sent", HUMAN_GROUPED(c->rows_sent),
	    HUMAN_GROUPED(c->rows), c->blocks_sent,
	    c->blocks_sent == 1 ? "" : "s");
	say(", %s", HUMAN_GROUPED(c->stacks_sent));
	say(" of %s stacks", HUMAN_GROUPED(c->stacks));
	say(", %s", HUMAN_GROUPED(c->names_sent));
	say(" of %s names\n", HUMAN_GROUPED(c->names));
	if (how.dry_run || !c->packed || seconds <= 0)
		return;
	say("%s in %.1f s: %s rows/s", HUMAN_BYTES(c->packed), seconds,
	    HUMAN_COUNT((double)c->rows_sent / seconds));
	say(", %s before they were packed\n", HUMAN_BYTES(c->plain));
}

/* Pushes all inputs. Returns an enum status, or -1 and *err. */
static int push_inputs(struct push_server *s, int argc, char **argv,
		       struct err *err)
{
	const struct open_ask ask = open_chosen();
	int64_t begun = now_ns();
	struct filter_apart apart = { 0 };
	struct filter of_each = filter;
	struct push_options o = how;
	struct store *db;
	struct inputs in;
	int rc = inputs_find(&in, &ask, argc, argv, NULL, err);

	of_each.apart = &apart;
	o.rows.filter = &of_each;
	struct push *p = push_new(s, &o);
	if (!rc) {
		progress_start("pushing");
		while ((rc = inputs_next(&in, &db, err)) > 0) {
			rc = push_database(p, db, in.list.path[in.at - 1], err);
			store_close(db);
			if (rc)
				break;
		}
		progress_clear();
	}
	if (!rc)
		rc = filter_end_apart(&apart, err);
	struct push_counts counts = push_counts(p);
	push_free(p);
	inputs_release(&in);
	if (!quiet && !rc)
		push_tell(s->c->name, &counts,
			  (double)(now_ns() - begun) / 1e9);
	if (json) {
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_text(&j, "server", s->c->name);
		json_bool(&j, "dry_run", how.dry_run);
		json_uint(&j, "runs", counts.runs);
		json_uint(&j, "runs_there", counts.there);
		json_uint(&j, "runs_other", counts.other);
		json_uint(&j, "blocks", counts.blocks);
		json_uint(&j, "blocks_sent", counts.blocks_sent);
		json_uint(&j, "rows", counts.rows);
		json_uint(&j, "rows_sent", counts.rows_sent);
		json_uint(&j, "stacks", counts.stacks);
		json_uint(&j, "stacks_sent", counts.stacks_sent);
		json_uint(&j, "names", counts.names);
		json_uint(&j, "names_sent", counts.names_sent);
		json_uint(&j, "bytes", counts.plain);
		json_uint(&j, "bytes_sent", counts.packed);
		json_uint(&j, "retries", counts.retries);
		json_uint(&j, "milliseconds",
			  (uint64_t)(now_ns() - begun) / 1000000);
		json_finish(&j);
	}
	if (rc)
		return -1;
	return counts.other ? STATUS_FAILED : in.status;
}

/* Makes tables and pushes, as wanted. Returns a status, or -1 and *err. */
static int push_to(struct push_server *s, int argc, char **argv,
		   struct err *err)
{
	if (create && how.dry_run)
		push_server_print(s, cluster);
	else if (create && push_server_create(s, cluster, err))
		return -1;
	if (argc == 1)
		return STATUS_OK;
	if (push_server_check(s, err))
		return -1;
	return push_inputs(s, argc - 1, argv + 1, err);
}

static int push_run_command(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	struct push_server s;
	int rc = -1;

	if (!argc || !clickhouse_is_url(argv[0]))
		return err_set(err, ERR_USAGE,
			       "which server? the first argument is its URL, "
			       "as clickhouse://user@host:8123/database");
	if (connections < 1 || connections > 64)
		return err_set(err, ERR_USAGE, "--connections needs 1 to 64");
	if (retry > 86400)
		return err_set(err, ERR_USAGE,
			       "--retry needs 0 to 86400 seconds");
	if (cluster && !create)
		return err_set(err, ERR_USAGE,
			       "--cluster is for --create; a push finds it in "
			       "the tables");
	if (cluster && strlen(cluster) > 200)
		return err_set(err, ERR_USAGE,
			       "--cluster needs a name of 200 bytes at most");
	if (argc == 1 && !create)
		return err_set(err, ERR_USAGE,
			       "which database or folder? name it after the "
			       "URL");
	how.connections = (size_t)connections;
	how.retry = retry;
	if (fleet_opts_read(&how.rows, err))
		return -1;
	if (!push_server_open(&s, argv[0], servers.item, servers.n, &ask.server,
			      err))
		rc = push_to(&s, argc, argv, err);
	push_server_close(&s);
	return rc;
}

const struct command cmd_push = {
	.name = "push",
	.args = "[options] URL [DB | FOLDER]...",
	.summary = "send runs to a ClickHouse server, each row exactly once",
	.examples = { "backstitch push --create clickhouse://host/fleet",
		      "backstitch push clickhouse://host/fleet *.db",
		      "backstitch push --dry-run clickhouse://host/fleet segments/",
		      "backstitch push --create --cluster fleet clickhouse://a/fleet" },
	.opts = opts,
	.common =
		"create server cluster dry-run replace connections label weighted password-file ca-file comm quiet json",
	.run = push_run_command,
};
