/* completion.c - the command that generates shell completion from the option
 * tables. */

#include "cli/args/command.h"
#include "cli/commands/help.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* Returns whether the arguments of a command are files. */
static bool takes_files(const struct command *c)
{
	return strcmp(c->name, "help") && strcmp(c->name, "completion");
}

/* Prints the words that a command takes in place of files. */
static void completion_put_words(const struct command *c)
{
	if (!strcmp(c->name, "completion"))
		fputs("bash zsh fish", stdout);
	if (strcmp(c->name, "help") != 0)
		return;
	for (size_t i = 0; commands[i]; i++)
		printf("%s ", commands[i]->name);
	for (size_t i = 0; topics[i].name; i++)
		printf("%s ", topics[i].name);
}

static void completion_put_choices(const struct opt *o)
{
	for (size_t i = 0; o->choices[i]; i++)
		printf("%s%s", i ? " " : "", o->choices[i]);
}

static void bash_choices(void *arg, const struct opt *o)
{
	const struct command *c = arg;

	if (o->kind != OPT_CHOICE)
		return;
	printf("\t%s:--%s", c ? c->name : "*", o->name);
	if (o->letter)
		printf("|%s:-%c", c ? c->name : "*", o->letter);
	fputs(") words='", stdout);
	completion_put_choices(o);
	puts("' ;;");
}

/* Prints text for '...' in zsh's _arguments: quotes, brackets, colons and
 * backslashes are escaped. */
static void zsh_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *s))
			printf("\\%c", *s);
		else
			putchar(*s);
	}
}

/* Prints what zsh completes as the argument of an option. */
static void zsh_argument(const struct opt *o)
{
	if (!o->arg)
		return;
	printf(":%s:", o->arg);
	if (o->kind == OPT_CHOICE) {
		putchar('(');
		completion_put_choices(o);
		putchar(')');
	} else if (!strcmp(o->arg, "DIR")) {
		fputs("_files -/", stdout);
	} else if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "DB")) {
		fputs("_files", stdout);
	}
}

/* An option_fn: prints an option for zsh's _arguments. */
static void zsh_option(void *arg UNUSED, const struct opt *o)
{
	for (int brief = o->letter != 0; brief >= 0; brief--) {
		if (brief)
			printf("\t\t'-%c[", o->letter);
		else
			printf("\t\t'--%s%s[", o->name, o->arg ? "=" : "");
		zsh_text(o->help);
		putchar(']');
		zsh_argument(o);
		puts("' \\");
	}
}

static void fish_text(const char *s)
{
	putchar('\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
	putchar('\'');
}

/* An option_fn: prints an option of the command arg. */
static void fish_option(void *arg, const struct opt *o)
{
	const struct command *c = arg;

	printf("complete -c backstitch -n '__fish_seen_subcommand_from %s' "
	       "-l %s",
	       c->name, o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->kind == OPT_CHOICE) {
		fputs(*o->arg == '[' ? " -f -a '" : " -x -a '", stdout);
		completion_put_choices(o);
		putchar('\'');
	} else if (o->arg) {
		fputs(" -r", stdout);
	}
	fputs(" -d ", stdout);
	fish_text(o->help);
	putchar('\n');
}

/* Prints the script for a shell. Returns STATUS_OK, or -1 and *err. */
static int completion_run(int argc, char **argv, struct err *err)
{
	const char *shell = argc ? argv[0] : "";

	if (argc == 1 && !strcmp(shell, "bash")) {
		/* the script handles "=", at which bash splits words */
		fputs("# bash completion for backstitch\n"
		      "_backstitch() {\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
		      "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
		      "\tlocal cmd=${COMP_WORDS[1]}\n"
		      "\tif [ \"$cur\" = = ]; then cur=\n"
		      "\telif [ \"$prev\" = = ]; then "
		      "prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		      "\t\tCOMPREPLY=( $(compgen -W '",
		      stdout);
		for (size_t i = 0; commands[i]; i++)
			printf("%s ", commands[i]->name);
		puts("' -- \"$cur\") )");
		puts("\t\treturn\n\tfi");
		puts("\tcase $cmd:$prev in");
		for (size_t i = 0; commands[i]; i++)
			options_walk(commands[i]->opts, bash_choices,
				     (void *)commands[i]);
		options_walk(common_opts, bash_choices, NULL);
		puts("\t*) case $cmd in");
		for (size_t i = 0; commands[i]; i++) {
			printf("\t\t%s) words='", commands[i]->name);
			help_walk_options(commands[i], help_put_option, stdout);
			puts("' ;;");
		}
		puts("\t\tesac\n\t\tcase $cur in -*) ;; *) words=");
		puts("\t\tcase $cmd in");
		for (size_t i = 0; commands[i]; i++) {
			if (takes_files(commands[i]))
				continue;
			printf("\t\t%s) words='", commands[i]->name);
			completion_put_words(commands[i]);
			puts("' ;;");
		}
		puts("\t\tesac ;; esac ;;");
		puts("\tesac");
		puts("\tCOMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") )");
		puts("}");
		/* bash before 4.4 has no nosort, which keeps the order */
		puts("complete -o nosort -o default -o bashdefault -F _backstitch "
		     "backstitch 2>/dev/null ||");
		puts("\tcomplete -o default -o bashdefault -F _backstitch backstitch");
	} else if (argc == 1 && !strcmp(shell, "zsh")) {
		puts("#compdef backstitch");
		puts("_backstitch() {");
		puts("\tlocal -a commands=(");
		for (size_t i = 0; commands[i]; i++) {
			printf("\t\t'%s:", commands[i]->name);
			zsh_text(commands[i]->summary);
			puts("'");
		}
		puts("\t)");
		puts("\tif (( CURRENT == 2 )); then");
		puts("\t\t_describe command commands\n\t\treturn\n\tfi");
		puts("\tlocal cmd=$words[2]");
		puts("\tzstyle ':completion:*:*:backstitch:*:options' sort false");
		puts("\tshift words; (( CURRENT-- ))");
		puts("\tcase $cmd in");
		for (size_t i = 0; commands[i]; i++) {
			printf("\t%s) _arguments \\\n", commands[i]->name);
			help_walk_options(commands[i], zsh_option, NULL);
			if (takes_files(commands[i])) {
				puts("\t\t'*:file:_files' ;;");
				continue;
			}
			fputs("\t\t'*: :(", stdout);
			completion_put_words(commands[i]);
			puts(")' ;;");
		}
		puts("\tesac\n}\n_backstitch \"$@\"");
	} else if (argc == 1 && !strcmp(shell, "fish")) {
		puts("# fish completion for backstitch");
		for (size_t i = 0; commands[i]; i++) {
			printf("complete -c backstitch -n __fish_use_subcommand -f "
			       "-a %s -d ",
			       commands[i]->name);
			fish_text(commands[i]->summary);
			putchar('\n');
			help_walk_options(commands[i], fish_option,
					  (void *)commands[i]);
			if (takes_files(commands[i]))
				continue;
			printf("complete -c backstitch -n "
			       "'__fish_seen_subcommand_from %s' -f -a '",
			       commands[i]->name);
			completion_put_words(commands[i]);
			puts("'");
		}
	} else
		return err_set(err, ERR_USAGE,
			       "completion is for bash, zsh or fish");
	return STATUS_OK;
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash | zsh | fish",
	.summary = "write completion for a shell",
	.examples = { "backstitch completion bash >> ~/.bash_completion",
		      "backstitch completion fish | source" },
	.run = completion_run,
};
