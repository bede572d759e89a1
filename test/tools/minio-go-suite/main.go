//go:build suite

// Command minio-go-suite runs the functional tests of MinIO's client library for Go against an endpoint, and prints a line of
// JSON a row, as s3-suite does: group, name, outcome (passed, failed, skipped) and the reason. The tests are the library's own
// file, which is built beside this one; endpoint and keys come from the variables that it reads. Left out are those that need
// TLS or a key management of the store, and those of 10,000 sources.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
)

type group struct {
	name  string
	tests []func()
}

var groups = []group{
	{"Buckets", []func(){
		testMakeBucketError, testMakeBucketRegions, testCorsSetGetDelete, testCors, testGetBucketTagging,
		testSetBucketTagging, testRemoveBucketTagging, testFunctional,
	}},
	{"PutObject", []func(){
		testPutObjectWithMetadata, testPutObjectReadAt, testPutObjectStreaming, testPutObjectPreconditionOnNonExistent,
		testFPutObjectMultipart, testFPutObject, testPutObjectUploadSeekedObject, testFPutObjectContext,
		testPutObjectContext, testStorageClassMetadataPutObject, testStorageClassInvalidMetadataPutObject,
		testPutObjectWithContentLanguage, testPutObjectWithAutoChecksums,
	}},
	{"GetObject", []func(){
		testGetObjectWithRange, testGetObjectRanges, testGetObjectSeekEnd, testGetObjectClosedTwice,
		testGetObjectReadSeekFunctional, testGetObjectReadAtFunctional, testGetObjectReadAtWhenEOFWasReached,
		testGetObjectModified, testGetObjectContext, testFGetObjectContext, testGetObjectACLContext,
		testStatObjectResponseHeaders,
	}},
	{"CopyObject", []func(){
		testCopyObject, testUserMetadataCopying, testComposeObjectErrorCases, testStorageClassMetadataCopyObject,
		testUnencryptedToUnencryptedCopyObject, testUnencryptedToUnencryptedCopyPart,
	}},
	{"RemoveObjects", []func(){
		testRemoveMultipleObjects, testRemoveMultipleObjectsWithResult, testRemoveMultipleObjectsIter, testRemoveObjects,
		testRemoveObjectsIter,
	}},
	{"ListObjects", []func(){testListObjects, testListUnsorted, testListMultipartUpload, testListObjectsChecksums}},
	{"Versioning", []func(){
		testPutObjectWithVersioning, testListObjectVersions, testStatObjectWithVersioning, testGetObjectWithVersioning,
		testCopyObjectWithVersioning, testConcurrentCopyObjectWithVersioning, testComposeObjectWithVersioning,
		testRemoveObjectWithVersioning, testRemoveObjectsWithVersioning, testObjectTaggingWithVersioning,
	}},
	{"Checksums", []func(){
		testPutObjectWithChecksums, testPutObjectWithTrailingChecksums, testPutMultipartObjectWithChecksums,
		testCopyObjectWithChecksums, testReplaceObjectWithChecksums, testGetObjectAttributes,
		testGetObjectAttributesErrorCases, testTrailingChecksums, testPutObjectWithAutomaticChecksums,
	}},
	{"Presigned", []func(){
		testPresignedPostPolicy, testPresignedPostPolicyWrongFile, testPresignedPostPolicyEmptyFileName,
	}},
	{"MinIO's own", []func(){testGetObjectS3Zip, testObjectAnnotations}},
	{"SignatureV2", []func(){
		testMakeBucketErrorV2, testGetObjectClosedTwiceV2, testFPutObjectV2, testMakeBucketRegionsV2,
		testGetObjectReadSeekFunctionalV2, testGetObjectReadAtFunctionalV2, testCopyObjectV2, testFunctionalV2,
		testComposeObjectErrorCasesV2, testUserMetadataCopyingV2, testPutObject0ByteV2, testPutObjectMetadataNonUSASCIIV2,
		testPutObjectNoLengthV2, testPutObjectsUnknownV2, testGetObjectContextV2, testFPutObjectContextV2,
		testFGetObjectContextV2, testPutObjectContextV2,
	}},
}

func main() {
	only := flag.String("only", "", "names of the groups to run, with commas between")
	flag.Parse()
	// Without an endpoint the tests would go to a server of MinIO's.
	if !strings.HasPrefix(os.Getenv(serverEndpoint), "127.0.0.1:") {
		fmt.Fprintln(os.Stderr, "minio-go-suite: SERVER_ENDPOINT has to be an address of this machine")
		os.Exit(1)
	}
	rows := json.NewEncoder(os.Stdout)
	for _, one := range groups {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), one.name) {
			continue
		}
		for _, test := range one.tests {
			if err := rows.Encode(rowOf(one.name, test)); err != nil {
				fmt.Fprintln(os.Stderr, "minio-go-suite:", err)
				os.Exit(1)
			}
		}
	}
}

type row struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// What the tests log of themselves.
type line struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Alert   string `json:"alert"`
	Message string `json:"message"`
	Error   any    `json:"error"`
}

const longest = 10 * time.Minute

// A test may log several lines, and goes on after a failure: all of them count. Some say nothing of their success.
func rowOf(group string, test func()) row {
	log := &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewJSONHandler(log, nil)))
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		test()
	}()
	found := row{Group: group, Name: nameOf(test), Outcome: "failed"}
	select {
	case reason := <-panicked:
		if reason != nil {
			found.Reason = fmt.Sprint("panic: ", reason)
			return found
		}
	case <-time.After(longest):
		found.Reason = "no end in sight"
		return found
	}
	statuses := map[string]bool{}
	for _, text := range strings.Split(strings.TrimSpace(log.String()), "\n") {
		var one line
		if json.Unmarshal([]byte(text), &one) != nil {
			continue
		}
		statuses[one.Status] = true
		if one.Status == "FAIL" {
			found.Reason = fmt.Sprint(one.Message, ": ", one.Error)
		} else if one.Status == "NA" && found.Reason == "" {
			found.Reason = one.Alert
		}
	}
	if statuses["NA"] && !statuses["FAIL"] {
		found.Outcome = "skipped"
	} else if !statuses["FAIL"] {
		found.Outcome = "passed"
	}
	return found
}

func nameOf(test func()) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return strings.TrimPrefix(name, "main.")
}
