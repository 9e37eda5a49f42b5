/* keep_record.h - makes a record last longer than its source keeps it. */
#pragma once
struct arena;
struct record;

/* Replaces all that the record points to by copies in the arena, except
 * payloads and stack dumps, which a source with ops->apart keeps. */
void keep_record(struct record *rec, struct arena *a);
/* The same of a record whose source is lasting (source.h). */
void keep_lasting_record(struct record *rec, struct arena *a);
