package accesspath

var table = []Path{
	environ, environOPath, environOpenat2, environIOUring,
	environTaskPID, environTaskTID2, environTopTID2, environSecondMount, environBindMount,
	mem, memTID2, memTaskTID2, processVMReadv, processVMReadvTID2,
	ptraceAttach, ptraceAttachTID2, ptraceSeize, tracerBefore, traceme,
	pidfdGetfd, fdReopen, mapFiles,
	openedEnvironRead, openedEnvironPreadv, openedMem, scmRights, forkInherit,
	openedEnvironSplice, openedEnvironSendfile, openedEnvironCopy,
	childEnviron, childMemory, leaderGoneEnviron, leaderGoneMem,
	perfStackUser, cmdline, coreLimit, coreLimitLowered, corePipe,
	kcore, devMem, devKmem,
	execBinfmt, execProcRoot, execNodeDisk, execMovedMount,
}
