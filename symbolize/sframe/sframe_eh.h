/* sframe_eh.h - checks an SFrame section against .eh_frame. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_EH_H
#define SYMBOLIZE_SFRAME_SFRAME_EH_H

struct judge;

/* Runs the tests that compare with .eh_frame; sets no_eh_frame in the report if
 * the file has none. */
void sframe_eh_check(struct judge *j);
#endif
