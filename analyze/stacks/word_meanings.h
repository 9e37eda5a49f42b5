/* word_meanings.h - what the words of verdicts mean, and the marks that are in
 * stacks, tables and pictures in place of a function or a number. */
#pragma once

/* A word of a help text with its meaning, or, without a word, a paragraph. */
struct help_line {
	const char *word, *text;
};

/* Verdicts of requests, then those of chains; ends with text NULL. */
extern const struct help_line verdict_words[];

/* Returns the meaning of a verdict; `of` is "request" or "chain". Returns NULL
 * if there is no such verdict. */
const char *verdict_meaning(const char *of, const char *word);

/* Marks, kinds, states and causes; ends with text NULL. */
extern const struct help_line mark_words[];
/* Returns the meaning of a frame's name that is a mark, such as "[user:
 * chain_lost]"; NULL if it is none. */
const char *mark_meaning(const char *name);
