//! Traits that a box forwards to its value, for all kinds of boxes.

/// Implements `fmt::Write`, `Hasher` and the traits of `std::io` and `std::os::fd` for a handle of a `T`.
macro_rules! forward {
    (@hasher $($method:ident: $value:ty),*) => {
        $(fn $method(&mut self, value: $value) {
            (**self).$method(value);
        })*
    };
    ([$($generics:tt)*] $Handle:ty) => {
        impl<T: ?Sized + core::fmt::Write, $($generics)*> core::fmt::Write for $Handle {
            fn write_str(&mut self, text: &str) -> core::fmt::Result {
                (**self).write_str(text)
            }

            fn write_char(&mut self, character: char) -> core::fmt::Result {
                (**self).write_char(character)
            }

            fn write_fmt(&mut self, arguments: core::fmt::Arguments<'_>) -> core::fmt::Result {
                (**self).write_fmt(arguments)
            }
        }

        impl<T: ?Sized + core::hash::Hasher, $($generics)*> core::hash::Hasher for $Handle {
            fn finish(&self) -> u64 {
                (**self).finish()
            }

            $crate::forward::forward!(@hasher write: &[u8], write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64,
                write_u128: u128, write_usize: usize, write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64,
                write_i128: i128, write_isize: isize);
        }
        #[cfg(feature = "std")]
        impl<T: ?Sized + std::io::Read, $($generics)*> std::io::Read for $Handle {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                (**self).read(buffer)
            }

            fn read_vectored(&mut self, buffers: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                (**self).read_vectored(buffers)
            }

            fn read_to_end(&mut self, buffer: &mut std_alloc::vec::Vec<u8>) -> std::io::Result<usize> {
                (**self).read_to_end(buffer)
            }

            fn read_to_string(&mut self, buffer: &mut std_alloc::string::String) -> std::io::Result<usize> {
                (**self).read_to_string(buffer)
            }

            fn read_exact(&mut self, buffer: &mut [u8]) -> std::io::Result<()> {
                (**self).read_exact(buffer)
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + std::io::Write, $($generics)*> std::io::Write for $Handle {
            fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
                (**self).write(buffer)
            }

            fn write_vectored(&mut self, buffers: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                (**self).write_vectored(buffers)
            }

            fn flush(&mut self) -> std::io::Result<()> {
                (**self).flush()
            }

            fn write_all(&mut self, buffer: &[u8]) -> std::io::Result<()> {
                (**self).write_all(buffer)
            }

            fn write_fmt(&mut self, arguments: core::fmt::Arguments<'_>) -> std::io::Result<()> {
                (**self).write_fmt(arguments)
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + std::io::Seek, $($generics)*> std::io::Seek for $Handle {
            fn seek(&mut self, position: std::io::SeekFrom) -> std::io::Result<u64> {
                (**self).seek(position)
            }

            fn rewind(&mut self) -> std::io::Result<()> {
                (**self).rewind()
            }

            fn stream_position(&mut self) -> std::io::Result<u64> {
                (**self).stream_position()
            }

            fn seek_relative(&mut self, offset: i64) -> std::io::Result<()> {
                (**self).seek_relative(offset)
            }
        }

        #[cfg(feature = "std")]
        impl<T: ?Sized + std::io::BufRead, $($generics)*> std::io::BufRead for $Handle {
            fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
                (**self).fill_buf()
            }

            fn consume(&mut self, amount: usize) {
                (**self).consume(amount);
            }

            fn read_until(&mut self, byte: u8, buffer: &mut std_alloc::vec::Vec<u8>) -> std::io::Result<usize> {
                (**self).read_until(byte, buffer)
            }

            fn skip_until(&mut self, byte: u8) -> std::io::Result<usize> {
                (**self).skip_until(byte)
            }

            fn read_line(&mut self, buffer: &mut std_alloc::string::String) -> std::io::Result<usize> {
                (**self).read_line(buffer)
            }
        }

        #[cfg(all(feature = "std", unix))]
        impl<T: std::os::fd::AsFd, $($generics)*> std::os::fd::AsFd for $Handle {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                (**self).as_fd()
            }
        }

        #[cfg(all(feature = "std", unix))]
        impl<T: std::os::fd::AsRawFd, $($generics)*> std::os::fd::AsRawFd for $Handle {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                (**self).as_raw_fd()
            }
        }
    };
}
pub(crate) use forward;
