/* word_meanings.h - what the words of verdicts mean, and the marks that stand
 * in stacks, tables and pictures where a function or a number would. */
#pragma once

/* A word of a help text with its meaning, or, without a word, a paragraph. */
struct help_line {
	const char *word, *text;
};

/* Those of requests, then those of chains; ends with text NULL. */
extern const struct help_line verdict_words[];

/* Returns the meaning of a verdict; `of` is "request" or "chain". Returns NULL
 * if there is no such verdict. */
const char *verdict_meaning(const char *of, const char *word);

/* Ends with text NULL. */
extern const struct help_line mark_words[];
/* Returns the meaning of a frame's name that is a mark, such as "[user:
 * chain_lost]"; NULL if it is none. */
const char *mark_meaning(const char *name);
