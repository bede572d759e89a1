// Package load makes many attempts, many processes and many ordinary operations.
package load
