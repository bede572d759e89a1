// Package kernel has the system calls that neither the standard library nor x/sys wraps as the attack paths need them.
package kernel
