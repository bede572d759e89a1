// Package kernel has the system calls that neither the standard library nor x/sys wraps as the roads need them.
package kernel
