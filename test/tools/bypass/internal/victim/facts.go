// Package victim is a process with a secret: in its environment, on its heap, on a stack and behind a descriptor.
package victim

// Variable holds the secret marker.
const Variable = "BYPASS_SECRET"

// Facts is what a victim prints about itself, so that attackers need not search.
type Facts struct {
	PID int `json:"pid"`
	// TID2 is a second thread that lives as long as the process.
	TID2   int    `json:"tid2"`
	Marker string `json:"marker"`
	// Address and Length are of the buffer that holds the marker.
	Address uint64 `json:"address"`
	Length  int    `json:"length"`
	// Descriptor is the number of one that holds the marker.
	Descriptor   int    `json:"descriptor"`
	Child        int    `json:"child,omitempty"`
	ChildAddress uint64 `json:"childAddress,omitempty"`
	// Tool is the path, in the mounts of the victim, of a program that it starts over and over.
	Tool string `json:"tool,omitempty"`
	// Folder is the node's that the tool's file system is over.
	Folder string `json:"folder,omitempty"`
}
