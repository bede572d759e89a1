// Command minio-go-client does one thing by minio-go, with its defaults as programs that stand on it have them. It takes
// `<operation> <bucket> <key> <file>` and options, and answers with a line of JSON: what came of it, or the error's code.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// As minio-go divides a stream whose length it knows, in bytes.
const partSize = 16 << 20

type answer struct {
	Info    any    `json:"info,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type job struct {
	core              minio.Core
	bucket, key, file string
	checksum          minio.ChecksumType
	mode, claim       string
	partSize          uint64
}

var checksums = map[string]minio.ChecksumType{
	"":           minio.ChecksumNone,
	"CRC32":      minio.ChecksumCRC32,
	"CRC32C":     minio.ChecksumCRC32C,
	"FullCRC32":  minio.ChecksumFullObjectCRC32,
	"FullCRC32C": minio.ChecksumFullObjectCRC32C,
	"CRC64NVME":  minio.ChecksumCRC64NVME,
	"SHA256":     minio.ChecksumSHA256,
}

var operations = map[string]func(context.Context, job) (any, error){
	"file":    putFile,
	"known":   putKnown,
	"unknown": putUnknown,
	"compose": compose,
	"claim":   complete,
	"get":     get,
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "minio-go-client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	address := flag.String("address", "", "host and port of the store")
	checksum := flag.String("checksum", "", "of the upload, where not minio-go's default")
	mode := flag.String("mode", "", "x-amz-checksum-type of claim")
	claim := flag.String("claim", "", "CRC-32C of the object that claim completes with")
	size := flag.Uint64("part-size", 0, "bytes of a part, where not minio-go's default")
	flag.Parse()
	operation, known := operations[flag.Arg(0)]
	if !known || flag.NArg() != 4 {
		return fmt.Errorf("usage: minio-go-client [options] <operation> <bucket> <key> <file>")
	}
	core, err := minio.NewCore(*address, &minio.Options{
		Creds:           credentials.NewEnvAWS(),
		Region:          os.Getenv("AWS_REGION"),
		TrailingHeaders: *checksum != "",
		MaxRetries:      1,
	})
	if err != nil {
		return err
	}
	info, err := operation(ctx, job{
		core: *core, bucket: flag.Arg(1), key: flag.Arg(2), file: flag.Arg(3),
		checksum: checksums[*checksum], mode: *mode, claim: *claim, partSize: *size,
	})
	result := answer{Info: info}
	if err != nil {
		refused := minio.ToErrorResponse(err)
		result = answer{Code: refused.Code, Message: err.Error()}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func (j job) options() minio.PutObjectOptions {
	return minio.PutObjectOptions{Checksum: j.checksum, PartSize: j.partSize}
}

func putFile(ctx context.Context, j job) (any, error) {
	return j.core.FPutObject(ctx, j.bucket, j.key, j.file, j.options())
}

func putKnown(ctx context.Context, j job) (any, error) {
	info, err := os.Stat(j.file)
	if err != nil {
		return nil, err
	}
	return j.putStream(ctx, info.Size())
}

func putUnknown(ctx context.Context, j job) (any, error) {
	return j.putStream(ctx, -1)
}

// A stream that can be read once, from its beginning to its end.
func (j job) putStream(ctx context.Context, size int64) (any, error) {
	source, err := os.Open(j.file)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	once := struct{ io.Reader }{source}
	return j.core.Client.PutObject(ctx, j.bucket, j.key, once, size, j.options())
}

// Copies the object `file` by parts to `key`.
func compose(ctx context.Context, j job) (any, error) {
	to := minio.CopyDestOptions{Bucket: j.bucket, Object: j.key, ChecksumType: j.checksum}
	half := minio.CopySrcOptions{Bucket: j.bucket, Object: j.file, MatchRange: true, Start: 0, End: partSize - 1}
	rest := minio.CopySrcOptions{Bucket: j.bucket, Object: j.file, MatchRange: true, Start: partSize, End: 2*partSize - 1}
	return j.core.ComposeObject(ctx, to, half, rest)
}

// Uploads by hand and completes with the CRC-32C that was asked for, whatever the parts are.
func complete(ctx context.Context, j job) (any, error) {
	body, err := os.ReadFile(j.file)
	if err != nil {
		return nil, err
	}
	begun := minio.PutObjectOptions{UserMetadata: map[string]string{"x-amz-checksum-algorithm": "CRC32C"}}
	id, err := j.core.NewMultipartUpload(ctx, j.bucket, j.key, begun)
	if err != nil {
		return nil, err
	}
	parts := []minio.CompletePart{}
	for number := 1; len(body) > 0; number++ {
		piece := body[:min(partSize, len(body))]
		body = body[len(piece):]
		sum := minio.ChecksumCRC32C.ChecksumBytes(piece).Encoded()
		header := minio.PutObjectPartOptions{CustomHeader: http.Header{"X-Amz-Checksum-Crc32c": {sum}}}
		part, err := j.core.PutObjectPart(
			ctx, j.bucket, j.key, id, number, bytes.NewReader(piece), int64(len(piece)), header)
		if err != nil {
			return nil, err
		}
		parts = append(parts, minio.CompletePart{PartNumber: number, ETag: part.ETag, ChecksumCRC32C: part.ChecksumCRC32C})
	}
	named := map[string]string{"X-Amz-Checksum-Crc32c": j.claim, "X-Amz-Checksum-Type": j.mode}
	return j.core.CompleteMultipartUpload(ctx, j.bucket, j.key, id, parts, minio.PutObjectOptions{UserMetadata: named})
}

func get(ctx context.Context, j job) (any, error) {
	return nil, j.core.FGetObject(ctx, j.bucket, j.key, j.file, minio.GetObjectOptions{Checksum: true})
}
