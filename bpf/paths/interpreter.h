/* Interpreters of binfmt_misc: whoever registers one has every process that then starts a matching program, a protected
 * one in a container too, run it instead, with what the process's environment holds. They are registered, switched and
 * removed by writing files of one file system, and each mount of it leads to the same. */
#ifndef SVC_PATHS_INTERPRETER_H
#define SVC_PATHS_INTERPRETER_H

#include "find/file.h"
#include "paths/attempt.h"

/* Runs for every open on the node; reads as in `is_on_procfs`. */
inlined bool is_interpreter_write(struct file *file)
{
	return file->f_inode->i_sb->s_magic == BINFMT_MAGIC && file->f_mode & MODE_WRITE;
}

inlined int on_interpreter_write(void)
{
	struct attempt attempt;
	struct call call;

	if (!is_machine_guarded(SVC_LEFT_INTERPRETERS))
		return 0;
	begin_attempt(&attempt, SVC_PATH_INTERPRETER);
	current_call(&call);
	attempt.call = call.number;
	return judge(&attempt, -EACCES);
}

#endif
