/* role.c - what the events of LTTng and perf are, by their names, and which of
 * their fields say what. */
#include "formats/ctf/ctf.h"

#include <string.h>

#include "formats/tracepoint/fields.h"

struct ctf_role_row {
	const char *name; /* a '*' matches anything */
	enum ctf_role role;
	const char *part[CTF_PARTS];
};

#define TASK [CTF_TID] = "tid", [CTF_COMM] = "comm"
#define IMAGE                                                                  \
	[CTF_BASE] = "baddr", [CTF_SIZE] = "memsz", [CTF_PATH] = "path",       \
	[CTF_HAS_ID] = "has_build_id"
#define IMAGE_ID [CTF_BASE] = "baddr", [CTF_PATH] = "build_id"

static const struct ctf_role_row ctf_roles[] = {
	{ "sched_switch",
	  CTF_SWITCH,
	  { [CTF_TID] = "prev_tid",
	    [CTF_COMM] = "prev_comm",
	    [CTF_TID2] = "next_tid",
	    [CTF_COMM2] = "next_comm",
	    [CTF_STATE_OF] = "prev_state" } },
	{ "sched_wakeup", CTF_WAKEUP, { TASK } },
	{ "sched_wakeup_new", CTF_WAKEUP_NEW, { TASK } },
	{ "sched_process_fork",
	  CTF_FORK,
	  { [CTF_TID] = "parent_tid",
	    [CTF_COMM] = "parent_comm",
	    [CTF_TID2] = "child_tid",
	    [CTF_COMM2] = "child_comm",
	    [CTF_PID] = "parent_pid",
	    [CTF_PID2] = "child_pid" } },
	{ "sched_process_exec",
	  CTF_EXEC,
	  { [CTF_TID] = "tid", [CTF_PATH] = "filename" } },
	{ "sched_process_exit", CTF_EXIT, { TASK } },
	{ "sched_*", CTF_NAMED, { TASK } },
	{ "lttng_statedump_process_state",
	  CTF_STATE,
	  { [CTF_TID] = "tid", [CTF_PID] = "pid", [CTF_COMM] = "name" } },
	{ "lttng_ust_statedump:bin_info", CTF_IMAGE, { IMAGE } },
	{ "lttng_ust_dl:dl*open", CTF_OPEN, { IMAGE } },
	{ "lttng_ust_lib:load", CTF_LOAD, { IMAGE } },
	{ "lttng_ust_statedump:build_id", CTF_BUILD_ID, { IMAGE_ID } },
	{ "lttng_ust_dl:build_id", CTF_BUILD_ID, { IMAGE_ID } },
	{ "lttng_ust_lib:build_id", CTF_BUILD_ID, { IMAGE_ID } },
	{ "lttng_ust_dl:dlclose", CTF_CLOSE, { [CTF_BASE] = "baddr" } },
	{ "lttng_ust_lib:unload", CTF_UNLOAD, { [CTF_BASE] = "baddr" } },
	{ "perf_comm",
	  CTF_NAMED,
	  { [CTF_TID] = "tid", [CTF_PID] = "pid", [CTF_COMM] = "comm" } },
	{ "perf_fork",
	  CTF_FORK,
	  { [CTF_TID] = "ptid",
	    [CTF_PID] = "ppid",
	    [CTF_TID2] = "tid",
	    [CTF_PID2] = "pid" } },
	{ "perf_exit", CTF_EXIT, { [CTF_TID] = "tid" } },
};

/* The pattern may have one '*', which matches anything. */
static bool ctf_role_matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t n = strlen(name);

	if (!star)
		return !strcmp(pattern, name);
	size_t before = (size_t)(star - pattern);
	size_t behind = strlen(star + 1);

	return n >= before + behind && !memcmp(name, pattern, before) &&
	       !strcmp(name + n - behind, star + 1);
}

void ctf_role_find(struct ctf_event *ev)
{
	for (int i = 0; i < CTF_PARTS; i++)
		ev->part[i] = -1;
	for (size_t i = 0; i < ARRAY_SIZE(ctf_roles); i++) {
		if (!ctf_role_matches(ctf_roles[i].name, ev->fmt.name))
			continue;
		ev->role = ctf_roles[i].role;
		for (int k = 0; k < CTF_PARTS; k++)
			ev->part[k] =
				tp_field_index(&ev->fmt, ctf_roles[i].part[k]);
		return;
	}
}

int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise)
{
	return tp_field_number_or(&ev->fmt, ev->part[part], raw, otherwise);
}

const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw)
{
	struct field f;

	tp_field_take_alone(&ctf->look, &ev->fmt, ev->part[part], raw, &f);
	return f.text;
}
