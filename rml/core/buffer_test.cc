#include "rml/core/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rml/core/testing/fake_device.h"

namespace rml::core {
namespace {

using testing::FakeDevice;
using ::testing::HasSubstr;

std::vector<std::byte> Bytes(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string Content(const Buffer& buffer) {
  std::string text(static_cast<size_t>(buffer.bytes()), '?');
  EXPECT_TRUE(buffer.CopyToHost(0, std::as_writable_bytes(std::span(text))).ok());
  return text;
}

std::shared_ptr<Buffer> Holding(Allocator& allocator, std::string_view text) {
  std::shared_ptr<Buffer> buffer = *Buffer::Allocate(allocator, static_cast<int64_t>(text.size()));
  EXPECT_TRUE(buffer->CopyFromHost(0, Bytes(text)).ok());
  return buffer;
}

TEST(Buffer, FreesItsMemoryWithTheLastOwner) {
  const int64_t before = Cpu().stats().live_blocks;
  std::shared_ptr<Buffer> first = *Buffer::Allocate(Cpu(), 100);
  std::shared_ptr<Buffer> second = first;
  first.reset();
  EXPECT_EQ(Cpu().stats().live_blocks, before + 1);
  second.reset();
  EXPECT_EQ(Cpu().stats().live_blocks, before);
}

TEST(Buffer, EveryDeviceCopiesAndFills) {
  FakeDevice fake;
  for (Device* device : {&Cpu(), static_cast<Device*>(&fake)}) {
    const std::shared_ptr<Buffer> buffer = Holding(*device, "abcdefgh");
    ASSERT_TRUE(buffer->Fill(2, 3, std::byte{'x'}).ok());
    EXPECT_EQ(Content(*buffer), "abxxxfgh") << device->name();
    // Overlapping ranges of one buffer.
    ASSERT_TRUE(Buffer::Copy(*buffer, 0, *buffer, 1, 7).ok());
    EXPECT_EQ(Content(*buffer), "bxxxfghh") << device->name();
  }
}

TEST(Buffer, CopiesBetweenAnyTwoDevices) {
  FakeDevice one(1);
  FakeDevice two(2);
  for (Device* from : {&Cpu(), static_cast<Device*>(&one)}) {
    for (Device* to : {&Cpu(), static_cast<Device*>(&one), static_cast<Device*>(&two)}) {
      const std::shared_ptr<Buffer> source = Holding(*from, "0123456789");
      const std::shared_ptr<Buffer> target = Holding(*to, "----------");
      ASSERT_TRUE(Buffer::Copy(*target, 1, *source, 4, 5).ok());
      EXPECT_EQ(Content(*target), "-45678----") << from->name() << " to " << to->name() << to->id();
    }
  }
}

TEST(Buffer, CopiesBetweenDevicesLargerThanTheStagingBlock) {
  FakeDevice one(1);
  FakeDevice two(2);
  std::string text(9'000'000, 'a');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  const std::shared_ptr<Buffer> source = Holding(one, text);
  const std::shared_ptr<Buffer> target = *Buffer::Allocate(two, source->bytes());
  ASSERT_TRUE(Buffer::Copy(*target, 0, *source, 0, source->bytes()).ok());
  EXPECT_TRUE(Content(*target) == text);
}

TEST(Buffer, RangesOutsideAreErrors) {
  const std::shared_ptr<Buffer> buffer = Holding(Cpu(), "abcd");
  std::array<std::byte, 2> two = {};
  EXPECT_EQ(buffer->CopyToHost(3, two).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(buffer->CopyToHost(-1, two).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(buffer->CopyFromHost(INT64_MAX, two).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(buffer->Fill(0, INT64_MAX, std::byte{0}).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(Buffer::Copy(*buffer, 2, *buffer, 0, 3).code(), StatusCode::kOutOfRange);
  EXPECT_TRUE(buffer->Fill(4, 0, std::byte{0}).ok());
}

TEST(Buffer, HostViewFailsOffTheHost) {
  FakeDevice fake;
  const std::shared_ptr<Buffer> buffer = Holding(fake, "abcd");
  const auto view = std::as_const(*buffer).HostView();
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(view.error().message()), HasSubstr("fake:0"));
  EXPECT_FALSE(buffer->MutableHostView().ok());
  EXPECT_EQ(Content(*Holding(Cpu(), "host")), "host");
}

TEST(Buffer, WrappedMemoryKeepsItsOwnerAliveAndIsNotFreed) {
  auto owner = std::make_shared<std::string>("mapped file");
  const std::weak_ptr<std::string> watch = owner;
  std::shared_ptr<Buffer> buffer = Buffer::WrapReadOnly(std::as_bytes(std::span(*owner)), owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(Content(*buffer), "mapped file");
  buffer.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(Buffer, ReadOnlyMemoryIsNeverWritten) {
  const std::string text = "constant";
  const std::shared_ptr<Buffer> buffer =
      Buffer::WrapReadOnly(std::as_bytes(std::span(text)), nullptr);
  EXPECT_TRUE(std::as_const(*buffer).HostView().ok());
  EXPECT_EQ(buffer->MutableHostView().error().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(buffer->Fill(0, 1, std::byte{0}).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(buffer->CopyFromHost(0, Bytes("x")).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Buffer::Copy(*buffer, 0, *buffer, 1, 1).code(), StatusCode::kFailedPrecondition);
  std::string writable = "variable";
  const auto other = Buffer::WrapWritable(std::as_writable_bytes(std::span(writable)), nullptr);
  ASSERT_TRUE(Buffer::Copy(*other, 0, *buffer, 0, 8).ok());
  EXPECT_EQ(writable, "constant");
}

TEST(Buffer, AFailingDeviceIsReported) {
  FakeDevice fake;
  const std::shared_ptr<Buffer> buffer = Holding(fake, "abcd");
  fake.FailCopiesWith(Internal("the link is down"));
  std::array<std::byte, 2> two = {};
  EXPECT_EQ(buffer->CopyToHost(0, two).message(), "the link is down");
  EXPECT_EQ(buffer->Fill(0, 1, std::byte{0}).message(), "the link is down");
  fake.FailCopiesWith(OkStatus());
  EXPECT_EQ(Content(*buffer), "abcd");
}

TEST(Buffer, EmptyBuffersWork) {
  FakeDevice fake;
  for (Device* device : {&Cpu(), static_cast<Device*>(&fake)}) {
    const std::shared_ptr<Buffer> buffer = *Buffer::Allocate(*device, 0);
    EXPECT_EQ(Content(*buffer), "");
    EXPECT_TRUE(buffer->Fill(0, 0, std::byte{1}).ok());
  }
}

// The sanitizers report the same fault in their own words.
TEST(FakeDeviceDeathTest, MemoryTrapsWhenTheHostTouchesIt) {
  FakeDevice fake;
  const std::shared_ptr<Buffer> buffer = Holding(fake, "abcd");
  const auto* address = reinterpret_cast<const volatile char*>(buffer->handle().value);
  EXPECT_DEATH(static_cast<void>(*address), "");
  // A copy in between opens the memory, and closes it again.
  EXPECT_EQ(Content(*buffer), "abcd");
  EXPECT_DEATH(static_cast<void>(*address), "");
}

TEST(FakeDeviceDeathTest, LeaksAndWrongFreesAreBugs) {
  EXPECT_DEATH(
      {
        FakeDevice leaky;
        static_cast<void>(leaky.Allocate(10));
      },
      "check failed");
  FakeDevice fake;
  const MemoryHandle block = *fake.Allocate(10);
  EXPECT_DEATH(fake.Free(block, 11), "check failed");
  fake.Free(block, 10);
}

}  // namespace
}  // namespace rml::core
