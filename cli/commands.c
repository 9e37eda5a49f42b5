/* commands.c - the table of commands, in the order help shows them. */
#include "cli/args/command.h"

#include "cli/commands/help.h"

extern const struct command cmd_ingest, cmd_info, cmd_report, cmd_flame,
	cmd_script, cmd_query, cmd_check, cmd_symbolize, cmd_dump,
	cmd_completion, cmd_annotate, cmd_sframe, cmd_export, cmd_bundle,
	cmd_merge, cmd_follow, cmd_push, cmd_view, cmd_path, cmd_record,
	cmd_diff, cmd_page, cmd_latency, cmd_sched;

const struct command *const commands[] = {
	&cmd_record,	&cmd_report,   &cmd_diff,   &cmd_view,
	&cmd_flame,	&cmd_page,     &cmd_path,   &cmd_latency,
	&cmd_sched,	&cmd_annotate, &cmd_check,  &cmd_info,
	&cmd_script,	&cmd_query,    &cmd_ingest, &cmd_merge,
	&cmd_follow,	&cmd_export,   &cmd_bundle, &cmd_push,
	&cmd_symbolize, &cmd_dump,     &cmd_sframe, &cmd_completion,
	&cmd_help,	NULL
};

const struct command_group command_groups[] = {
	{ "", &cmd_record },
	{ "Keep, convert, send:", &cmd_merge },
	{ "For developers:", &cmd_symbolize },
	{ .title = NULL },
};
