import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** What jobs do on S3A: folders, files in one PUT and in parts, many writers, seeks, vectored reads, renames, removal. */
public class S3aFiles {
  static final int LARGE = 17_000_000;

  public static void main(String[] arguments) throws Exception {
    Path root = new Path("s3a://" + System.getenv("BUCKET") + "/");
    try (FileSystem files = FileSystem.newInstance(root.toUri(), configuration())) {
      Path job = new Path(root, "job/_temporary");
      check(files.mkdirs(job), "mkdirs");
      check(files.getFileStatus(job).isDirectory(), "an empty folder is one");
      check(files.listStatus(job).length == 0, "an empty folder is empty");
      write(files, new Path(job, "small"), 1_000);
      write(files, new Path(job, "empty"), 0);
      write(files, new Path(job, "large"), LARGE);
      writeAtOnce(files, job, 16);
      check(sizes(files, job).size() == 19, "19 files, not " + sizes(files, job));

      Path done = new Path(root, "done");
      check(files.rename(job, done), "rename of a folder");
      check(!files.exists(job), "the folder has gone");
      Map<String, Long> sizes = sizes(files, done);
      check(sizes.get("large") == LARGE && sizes.get("empty") == 0 && sizes.get("part-7") == 70_007, sizes.toString());
      check(files.getContentSummary(done).getFileCount() == 19, "content summary");
      readBack(files, new Path(done, "small"), 1_000);
      readBack(files, new Path(done, "large"), LARGE);
      seek(files, new Path(done, "large"));
      readVectored(files, new Path(done, "large"));

      write(files, new Path(done, "small"), 2_000);
      readBack(files, new Path(done, "small"), 2_000);
      check(files.rename(new Path(done, "small"), new Path(root, "moved")), "rename of a file");
      readBack(files, new Path(root, "moved"), 2_000);
      check(files.delete(done, true), "delete of a folder");
      check(!files.exists(done), "the folder is deleted");
      check(sizes(files, root).keySet().equals(java.util.Set.of("moved")), sizes(files, root).toString());
    }
  }

  static Configuration configuration() {
    Configuration configuration = new Configuration();
    URI endpoint = URI.create(System.getenv("AWS_ENDPOINT_URL"));
    configuration.set("fs.s3a.endpoint", endpoint.toString());
    configuration.set("fs.s3a.endpoint.region", System.getenv("AWS_REGION"));
    configuration.set("fs.s3a.access.key", System.getenv("AWS_ACCESS_KEY_ID"));
    configuration.set("fs.s3a.secret.key", System.getenv("AWS_SECRET_ACCESS_KEY"));
    configuration.set(
        "fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider");
    configuration.setBoolean("fs.s3a.path.style.access", true);
    configuration.setBoolean("fs.s3a.connection.ssl.enabled", false);
    configuration.set("fs.s3a.multipart.size", "5M");
    configuration.set("fs.s3a.multipart.threshold", "10M");
    configuration.set("fs.s3a.buffer.dir", System.getenv("HOME"));
    return configuration;
  }

  static byte[] content(Path path, int length) {
    byte[] bytes = new byte[length];
    new Random(path.getName().hashCode() + length).nextBytes(bytes);
    return bytes;
  }

  static void write(FileSystem files, Path path, int length) throws IOException {
    try (FSDataOutputStream out = files.create(path, true)) {
      out.write(content(path, length));
    }
  }

  static void writeAtOnce(FileSystem files, Path folder, int count) throws Exception {
    ExecutorService writers = Executors.newFixedThreadPool(count);
    List<Callable<Void>> work =
        IntStream.range(0, count)
            .<Callable<Void>>mapToObj(
                n ->
                    () -> {
                      write(files, new Path(folder, "part-" + n), 70_000 + n);
                      return null;
                    })
            .collect(Collectors.toList());
    for (var each : writers.invokeAll(work)) each.get();
    writers.shutdown();
  }

  static Map<String, Long> sizes(FileSystem files, Path folder) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    RemoteIterator<LocatedFileStatus> all = files.listFiles(folder, true);
    while (all.hasNext()) {
      LocatedFileStatus status = all.next();
      sizes.put(status.getPath().getName(), status.getLen());
    }
    return sizes;
  }

  static void readBack(FileSystem files, Path path, int length) throws IOException {
    // the content follows from the name under which it was written
    Path first = path.getName().equals("moved") ? new Path("small") : path;
    byte[] bytes = new byte[length];
    try (FSDataInputStream in = files.open(path)) {
      in.readFully(0, bytes);
      check(in.getPos() == 0, "position");
    }
    check(Arrays.equals(bytes, content(first, length)), path + " is not what was written");
  }

  static void seek(FileSystem files, Path path) throws IOException {
    byte[] whole = content(path, LARGE);
    byte[] bytes = new byte[1_000];
    try (FSDataInputStream in = files.open(path)) {
      for (int at : new int[] {LARGE - 1_000, 0, 5 * 1024 * 1024 - 500, 12_345_678}) {
        in.seek(at);
        in.readFully(bytes);
        check(Arrays.equals(bytes, Arrays.copyOfRange(whole, at, at + 1_000)), "read after a seek to " + at);
      }
    }
  }

  static void readVectored(FileSystem files, Path path) throws Exception {
    byte[] whole = content(path, LARGE);
    List<FileRange> ranges =
        IntStream.range(0, 6)
            .mapToObj(n -> FileRange.createFileRange(n * 2_500_000L, 4_096))
            .collect(Collectors.toList());
    try (FSDataInputStream in = files.open(path)) {
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        byte[] bytes = new byte[range.getLength()];
        range.getData().get().get(bytes);
        int at = (int) range.getOffset();
        check(Arrays.equals(bytes, Arrays.copyOfRange(whole, at, at + bytes.length)), "vectored read at " + at);
      }
    }
  }

  static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }
}
