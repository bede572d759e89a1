// Command s3-suite runs versitygw's integration suite against an endpoint, group by group, and prints a line of JSON a row:
// group, name, outcome (passed, failed, skipped) and the reason. Keys and region come from the environment as for the AWS
// tools. Rows that make users of the store fail anywhere: they call versitygw's own command in the working folder.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/versity/versitygw/tests/integration"
)

type group struct {
	name string
	run  func(*integration.TestState)
}

// ListBuckets counts the buckets of the whole store, so it comes before what may leave some.
var plain = []group{
	{"ListBuckets", integration.TestListBuckets},
	{"Authentication", integration.TestAuthentication},
	{"PresignedAuthentication", integration.TestPresignedAuthentication},
	{"CreateBucket", integration.TestCreateBucket},
	{"HeadBucket", integration.TestHeadBucket},
	{"DeleteBucket", integration.TestDeleteBucket},
	{"PutBucketOwnershipControls", integration.TestPutBucketOwnershipControls},
	{"GetBucketOwnershipControls", integration.TestGetBucketOwnershipControls},
	{"DeleteBucketOwnershipControls", integration.TestDeleteBucketOwnershipControls},
	{"PutBucketTagging", integration.TestPutBucketTagging},
	{"GetBucketTagging", integration.TestGetBucketTagging},
	{"DeleteBucketTagging", integration.TestDeleteBucketTagging},
	{"GetBucketLocation", integration.TestGetBucketLocation},
	{"PutObject", integration.TestPutObject},
	{"HeadObject", integration.TestHeadObject},
	{"GetObjectAttributes", integration.TestGetObjectAttributes},
	{"GetObject", integration.TestGetObject},
	{"ListObjects", integration.TestListObjects},
	{"ListObjectsV2", integration.TestListObjectsV2},
	{"ListObjectVersions_VD", integration.TestListObjectVersions_VD},
	{"DeleteObject", integration.TestDeleteObject},
	{"DeleteObjects", integration.TestDeleteObjects},
	{"CopyObject", integration.TestCopyObject},
	{"PutObjectTagging", integration.TestPutObjectTagging},
	{"GetObjectTagging", integration.TestGetObjectTagging},
	{"DeleteObjectTagging", integration.TestDeleteObjectTagging},
	{"CreateMultipartUpload", integration.TestCreateMultipartUpload},
	{"UploadPart", integration.TestUploadPart},
	{"UploadPartCopy", integration.TestUploadPartCopy},
	{"ListParts", integration.TestListParts},
	{"ListMultipartUploads", integration.TestListMultipartUploads},
	{"AbortMultipartUpload", integration.TestAbortMultipartUpload},
	{"CompleteMultipartUpload", integration.TestCompleteMultipartUpload},
	{"PutBucketAcl", integration.TestPutBucketAcl},
	{"GetBucketAcl", integration.TestGetBucketAcl},
	{"PutBucketPolicy", integration.TestPutBucketPolicy},
	{"GetBucketPolicy", integration.TestGetBucketPolicy},
	{"GetBucketPolicyStatus", integration.TestGetBucketPolicyStatus},
	{"DeleteBucketPolicy", integration.TestDeleteBucketPolicy},
	{"PutBucketCors", integration.TestPutBucketCors},
	{"GetBucketCors", integration.TestGetBucketCors},
	{"DeleteBucketCors", integration.TestDeleteBucketCors},
	{"PutBucketWebsite", integration.TestPutBucketWebsite},
	{"GetBucketWebsite", integration.TestGetBucketWebsite},
	{"DeleteBucketWebsite", integration.TestDeleteBucketWebsite},
	{"PreflightOPTIONSEndpoint", integration.TestPreflightOPTIONSEndpoint},
	{"CORSMiddleware", integration.TestCORSMiddleware},
	{"PutObjectLockConfiguration", integration.TestPutObjectLockConfiguration},
	{"GetObjectLockConfiguration", integration.TestGetObjectLockConfiguration},
	{"PutObjectRetention", integration.TestPutObjectRetention},
	{"GetObjectRetention", integration.TestGetObjectRetention},
	{"PutObjectLegalHold", integration.TestPutObjectLegalHold},
	{"GetObjectLegalHold", integration.TestGetObjectLegalHold},
	{"NotImplementedActions", integration.TestNotImplementedActions},
	{"WORMProtection", integration.TestWORMProtection},
	{"AccessControl", integration.TestAccessControl},
	{"Router", integration.TestRouter},
	{"PostObject", integration.TestPostObject},
	{"UnsignedStreamingPayloadTrailer", integration.TestUnsignedStreaminPayloadTrailer},
	{"SignedStreamingPayload", integration.TestSignedStreaminPayload},
	{"SignedStreamingPayloadTrailer", integration.TestSignedStreaminPayloadTrailer},
	{"PublicBuckets", integration.TestPublicBuckets},
	{"Server", integration.TestServer},
	{"Posix", integration.TestPosix},
}

// What needs a store that keeps versions.
var versioned = []group{
	{"Versioning", integration.TestVersioning},
}

func main() {
	endpoint := flag.String("endpoint", "", "URL of the store")
	versions := flag.Bool("versioning", false, "the groups of a store that keeps versions, in place of all others")
	only := flag.String("only", "", "names of the groups to run, with commas between")
	flag.Parse()
	options := []integration.Option{
		integration.WithEndpoint(*endpoint),
		integration.WithRegion(os.Getenv("AWS_REGION")),
		integration.WithAccess(os.Getenv("AWS_ACCESS_KEY_ID")),
		integration.WithSecret(os.Getenv("AWS_SECRET_ACCESS_KEY")),
	}
	groups := plain
	if *versions {
		groups = versioned
		options = append(options, integration.WithVersioningEnabled())
	}
	if err := run(integration.NewS3Conf(options...), groups, *only); err != nil {
		fmt.Fprintln(os.Stderr, "s3-suite:", err)
		os.Exit(1)
	}
}

// The suite tells its results in coloured text on the standard output alone.
func run(conf *integration.S3Conf, groups []group, only string) error {
	rows := json.NewEncoder(os.Stdout)
	for _, one := range groups {
		if only != "" && !slices.Contains(strings.Split(only, ","), one.name) {
			continue
		}
		panicked := false
		text, err := captured(func() {
			panicked = panics(func() {
				state := integration.NewTestState(context.Background(), conf, false)
				one.run(state)
				state.Wait()
			})
		})
		if err != nil {
			return err
		}
		found := rowsOf(text)
		if panicked {
			rest, err := unseen(conf, one.name, found)
			if err != nil {
				return err
			}
			found = append(found, rest...)
		}
		for _, found := range found {
			found.Group = one.name
			if err := rows.Encode(found); err != nil {
				return err
			}
		}
	}
	return nil
}

// Some rows take for granted what a store answers, and end their whole group where it does not.
func panics(work func()) (panicked bool) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Println(trouble, "panic: ", reason)
			panicked = true
		}
	}()
	work()
	return false
}

// The rows of a group that did not run, by their names, one by one.
func unseen(conf *integration.S3Conf, group string, seen []row) ([]row, error) {
	tests := integration.GetIntTests()
	rows := []row{}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		ran := slices.ContainsFunc(seen, func(one row) bool { return one.Name == name })
		if ran || !strings.HasPrefix(name, group+"_") {
			continue
		}
		text, err := captured(func() { panics(func() { tests[name](conf) }) })
		if err != nil {
			return nil, err
		}
		rows = append(rows, rowsOf(text)...)
	}
	return rows, nil
}

func captured(work func()) (string, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", err
	}
	original := os.Stdout
	os.Stdout = writer
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(reader)
		text <- string(all)
	}()
	work()
	os.Stdout = original
	writer.Close()
	return <-text, nil
}

type row struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

const (
	begins  = "\033[36mRUN  \033[0m"
	passes  = "\033[32mPASS \033[0m"
	fails   = "\033[31mFAIL \033[0m"
	skips   = "\033[33mSKIP \033[0m"
	trouble = "\033[31m"
)

// What a row finds stands before its verdict, which often shows addresses only. A row without a verdict could not remove its
// bucket: that counts as failed.
func rowsOf(text string) []row {
	rows := []row{}
	for _, piece := range strings.Split(text, begins)[1:] {
		name, rest, _ := strings.Cut(piece, "\n")
		found := row{Name: name, Outcome: "failed"}
		switch {
		case strings.Contains(rest, fails):
			found.Reason = strings.Replace(rest, fails+name+": ", "", 1)
		case strings.Contains(rest, skips):
			found.Outcome = "skipped"
		case strings.Contains(rest, passes):
			found.Outcome = "passed"
		default:
			found.Reason = rest
		}
		found.Reason = strings.TrimSpace(strings.ReplaceAll(found.Reason, trouble, ""))
		rows = append(rows, found)
	}
	return rows
}
