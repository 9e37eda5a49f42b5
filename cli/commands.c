/* commands.c - the table of commands, in the order help shows them. */
#include "cli/command.h"

#include "cli/help.h"

extern const struct command cmd_ingest, cmd_info, cmd_report, cmd_flame,
	cmd_script, cmd_query, cmd_check, cmd_symbolize, cmd_dump,
	cmd_completion, cmd_annotate, cmd_sframe, cmd_export, cmd_bundle,
	cmd_merge, cmd_follow, cmd_push;

const struct command *const commands[] = {
	&cmd_ingest,	 &cmd_info,	&cmd_check,  &cmd_report,
	&cmd_flame,	 &cmd_annotate, &cmd_script, &cmd_query,
	&cmd_export,	 &cmd_push,	&cmd_merge,  &cmd_follow,
	&cmd_symbolize,	 &cmd_bundle,	&cmd_sframe, &cmd_dump,
	&cmd_completion, &cmd_help,	NULL
};
