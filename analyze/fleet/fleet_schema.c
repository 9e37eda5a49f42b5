/* fleet_schema.c - the tables in which runs of many hosts lie together. */
#include "analyze/fleet/fleet_schema.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define ONE(name_, type_, shape_)                                              \
	{                                                                      \
		.name = (name_), .type = FLEET_##type_,                        \
		.shape = FLEET_##shape_                                        \
	}
#define LIST(name_, type_, shape_)                                             \
	{                                                                      \
		.name = (name_), .type = FLEET_##type_,                        \
		.shape = FLEET_##shape_, .list = true                          \
	}

static const struct fleet_column run_columns[] = {
	ONE("run", HASH, MANY),		  ONE("made", HASH, MANY),
	ONE("version", U16, FEW),	  ONE("writer", STRING, FEW),
	ONE("host", STRING, FEW),	  ONE("kernel", STRING, FEW),
	ONE("machine", STRING, FEW),	  ONE("cpus", I32, FEW),
	ONE("command", STRING, FEW),	  ONE("format", STRING, FEW),
	ONE("recorder", STRING, FEW),	  ONE("note", STRING, FEW),
	ONE("clock", STRING, FEW),	  ONE("wall", U8, FEW),
	ONE("boot", I64, MANY),		  ONE("start", I64, RISING),
	ONE("end", I64, RISING),	  ONE("system_wide", I32, FEW),
	ONE("complete", U8, FEW),	  ONE("records", U64, MANY),
	ONE("samples", U64, MANY),	  ONE("lost", U64, MANY),
	ONE("lost_unknown", U64, FEW),	  ONE("period", U64, FEW),
	ONE("filtered", U8, FEW),	  ONE("kept", U64, MANY),
	ONE("rows", U64, MANY),		  LIST("label_name", STRING, FEW),
	LIST("label_value", STRING, FEW), ONE("path", STRING, FEW),
	ONE("counted", U8, FEW),	  ONE("loss_rows", U64, MANY),
	ONE("verdict_rows", U64, FEW),	  ONE("trust_rows", U64, FEW),
	ONE("finding_rows", U64, MANY),
};

static const struct fleet_column event_columns[] = {
	ONE("run", HASH, FEW),	    ONE("event", STRING, FEW),
	ONE("how", STRING, FEW),    ONE("unit", STRING, FEW),
	ONE("period", U64, FEW),    ONE("frequency", U8, FEW),
	ONE("stacks", U8, FEW),	    ONE("deferred", U8, FEW),
	ONE("samples", U64, MANY),  ONE("weight", U64, MANY),
	ONE("number", U32, RISING),
};

static const struct fleet_column sample_columns[] = {
	ONE("run", HASH, FEW),
	ONE("time", I64, RISING),
	ONE("cpu", I32, FEW),
	ONE("pid", I32, FEW),
	ONE("tid", I32, FEW),
	ONE("comm", STRING, FEW),
	ONE("event", STRING, FEW),
	ONE("weight", U64, FEW),
	ONE("n", U32, FEW),
	ONE("kernel_stack", HASH, FEW),
	ONE("user_stack", HASH, FEW),
	ONE("verdict", STRING, FEW),
	ONE("user_mark", STRING, FEW),
	ONE("kernel_mark", STRING, FEW),
	ONE("class", STRING, FEW),
};

static const struct fleet_column stack_columns[] = {
	ONE("stack", HASH, MANY),  LIST("build_id", STRING, FEW),
	LIST("path", STRING, FEW), LIST("kind", STRING, FEW),
	LIST("offset", U64, MANY), LIST("vaddr", U64, MANY),
	LIST("flags", U16, FEW),   LIST("place", U64, FEW),
	LIST("bogus", U8, FEW),
};

static const struct fleet_column name_columns[] = {
	ONE("place", U64, MANY),      ONE("level", U8, FEW),
	ONE("levels", U8, FEW),	      ONE("build_id", STRING, FEW),
	ONE("path", STRING, FEW),     ONE("offset", U64, RISING),
	ONE("function", STRING, FEW), ONE("file", STRING, FEW),
	ONE("line", U32, MANY),	      ONE("unverified", U8, FEW),
	ONE("start", U64, MANY),
};

static const struct fleet_column loss_columns[] = {
	ONE("run", HASH, FEW),	   ONE("what", STRING, FEW),
	ONE("counts", U8, FEW),	   ONE("cpu", I32, FEW),
	ONE("event", STRING, FEW), ONE("since", I64, RISING),
	ONE("time", I64, RISING),  ONE("n", I64, MANY),
};

static const struct fleet_column verdict_columns[] = {
	ONE("run", HASH, FEW),	     ONE("kind", STRING, FEW),
	ONE("verdict", STRING, FEW), ONE("confidence", STRING, FEW),
	ONE("n", U64, MANY),
};

static const struct fleet_column trust_columns[] = {
	ONE("run", HASH, FEW),	   ONE("event", STRING, FEW),
	ONE("class", STRING, FEW), ONE("samples", U64, MANY),
	ONE("fix", STRING, FEW),
};

static const struct fleet_column finding_columns[] = {
	ONE("run", HASH, FEW),	   ONE("rule", STRING, FEW),
	ONE("breaks", U8, FEW),	   ONE("explained", U8, FEW),
	ONE("since", I64, RISING), ONE("time", I64, RISING),
	ONE("cpu", I32, FEW),	   ONE("pid", I32, FEW),
	ONE("tid", I32, FEW),	   ONE("comm", STRING, FEW),
	ONE("n", I64, FEW),
};

static const struct fleet_column field_columns[] = {
	ONE("run", HASH, FEW),	   ONE("time", I64, RISING),
	ONE("cpu", I32, FEW),	   ONE("tid", I32, FEW),
	ONE("event", STRING, FEW), ONE("field", STRING, FEW),
	ONE("number", I64, MANY),  ONE("text", STRING, FEW),
};

#define TABLE(id, name_, by_run_, key_)                                        \
	[FLEET_##id] = { .name = #name_,                                       \
			 .column = name_##_columns,                            \
			 .n_column = N(name_##_columns),                       \
			 .by_run = (by_run_),                                  \
			 .key = (key_) }

const struct fleet_table fleet_tables[FLEET_TABLES] = {
	TABLE(RUN, run, true, 1),	  TABLE(EVENT, event, true, 2),
	TABLE(SAMPLE, sample, true, 0),	  TABLE(STACK, stack, false, 1),
	TABLE(NAME, name, false, 2),	  TABLE(LOSS, loss, true, 0),
	TABLE(VERDICT, verdict, true, 4), TABLE(TRUST, trust, true, 3),
	TABLE(FINDING, finding, true, 0), TABLE(FIELD, field, true, 0),
};

size_t fleet_type_size(enum fleet_type t)
{
	static const unsigned char size[] = {
		[FLEET_U8] = 1,	 [FLEET_U16] = 2,    [FLEET_U32] = 4,
		[FLEET_U64] = 8, [FLEET_I32] = 4,    [FLEET_I64] = 8,
		[FLEET_F64] = 8, [FLEET_STRING] = 0, [FLEET_HASH] = 16,
	};

	return size[t];
}
